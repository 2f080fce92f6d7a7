// Package dockerapi is the only way to the Docker daemon. It owns the client, the list of calls that
// each part of the program may make, the connection to a container's streams, and the daemon's errors.
//
// A call that is not on the list of its Use never leaves the process, even if it takes over a
// connection. A refused call is logged and returns an EPolicy error.
//
// The package does not know the required properties of a container (package container does), nor its
// content.
package dockerapi
