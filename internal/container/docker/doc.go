// Package docker is the container runtime "dod". It drives the host's Docker engine over its HTTP API,
// through package dockerapi. It owns the policy of our containers as data (Policy), and compares the
// created containers with it (Verify).
//
// It never starts a container whose inspected form differs from the policy in any field. It neither
// builds nor pulls images: an image is named by its id and must exist.
package docker
