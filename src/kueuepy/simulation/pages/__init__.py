"""The sections of a report: headlines (`words`), parts of both kinds of reports (`parts`), and HTML (`tables`)."""
