"""The structural schemas of Kueue's custom resources, and what an API server makes of an object by them.

Source: `config/components/crd/bases`, and `k8s.io/apiextensions-apiserver/pkg/apiserver/schema`.
"""
