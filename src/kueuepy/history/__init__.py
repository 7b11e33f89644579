"""Recordings of a cluster in an SQLite file: the schema, reading and writing."""

from kueuepy.history.anonymise import Anonymiser
from kueuepy.history.reading import RecordedState, Recording
from kueuepy.history.reduction import reduced
from kueuepy.history.writing import RecordingWriter

__all__ = ["Anonymiser", "RecordedState", "Recording", "RecordingWriter", "reduced"]
