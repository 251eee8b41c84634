"""Names of what k-means and mixtures of Gaussians can be asked for."""
SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VAR_NAME = "clusters"
FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"


def check_distance(metric):
    """ValueError for a metric that k-means does not have."""
    if metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError("Unsupported distance metric '%s'" % metric)


def check_start(initial_clusters, allowed):
    """ValueError for a name of a way to choose centers that is not allowed."""
    if isinstance(initial_clusters, str) and initial_clusters not in allowed:
        raise ValueError("Unsupported initialization algorithm '%s'"
                         % initial_clusters)
