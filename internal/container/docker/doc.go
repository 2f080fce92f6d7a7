// Package docker is the container runtime "dod": it drives the Docker engine
// that the host already has, over its HTTP API. It owns the policy of our
// containers as data (Policy), the check of what the daemon made of it
// (Verify), and the list of API endpoints that may be used at all.
//
// It promises that no container starts whose inspected form differs from the
// policy in any field, and that no request outside the list leaves the
// process. It prepares no images and pulls none: an image is named by its id
// and must be there.
package docker
