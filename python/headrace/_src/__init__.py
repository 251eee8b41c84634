"""What defines the names of tf; _api.py says where each is."""
