"""Read and write Kubernetes manifests.

`load` reads files, strings and cluster dumps in any version of Kueue's API. `dump` writes objects as YAML, from which
`load` reads back equal objects. `from_dict` and `to_dict` convert single objects between Python classes and Kubernetes'
JSON form. `validate`, `check` and `validate_update` apply the validation rules of the API server and of Kueue's
webhooks.
"""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
