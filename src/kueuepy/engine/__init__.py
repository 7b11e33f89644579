"""Python views of the engine's data: cycles, tables, and the status of queues and workloads."""
