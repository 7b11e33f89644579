"""Many runs: which policy is best, what is the least quota, when, at whose cost, and will it hold."""
