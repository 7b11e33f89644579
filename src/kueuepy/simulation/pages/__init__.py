"""The sections of a report: headlines (`words`), effects of a policy (`effects`), and tables and charts as HTML."""
