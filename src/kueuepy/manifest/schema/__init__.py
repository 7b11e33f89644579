"""The structural schemas of Kueue's custom resources, and validation of objects as on an API server.

Source: `config/components/crd/bases`, and `k8s.io/apiextensions-apiserver/pkg/apiserver/schema`.
"""
