"""Tables: columns of numbers and names, with pandas and NumPy where they are wanted."""
