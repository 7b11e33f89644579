"""The parts of a report: headlines in words (`words`), effects of a policy (`effects`), tables and charts as HTML."""
