// Package docker is the container runtime "dod": it drives the Docker engine
// that the host already has, over its HTTP API. It owns the policy of our
// containers as data (Policy) and the check of what the daemon made of it
// (Verify). It speaks to the daemon through package dockerapi.
//
// It promises that no container starts whose inspected form differs from the
// policy in any field. It prepares no images and pulls none: an image is named by its id
// and must be there.
package docker
