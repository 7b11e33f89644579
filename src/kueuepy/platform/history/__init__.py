"""Recordings of a cluster in an SQLite file: the schema, reading and writing."""

from kueuepy.platform.history.anonymise import Anonymiser
from kueuepy.platform.history.reading import RecordedState, Recording
from kueuepy.platform.history.reduction import Conditions, key_of, reduced
from kueuepy.platform.history.writing import RecordingWriter

__all__ = ["Anonymiser", "Conditions", "RecordedState", "Recording", "RecordingWriter", "key_of", "reduced"]
