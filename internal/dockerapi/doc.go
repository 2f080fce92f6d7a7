// Package dockerapi is the one way to the Docker daemon. It owns the client,
// the list of calls that each part of the program may make, the connection to
// a container's streams and the errors of a daemon.
//
// It promises that a call which is not on the list of its Use never leaves the
// process: neither an ordinary request nor one that takes over a connection. A
// refused call is logged and is an EPolicy error.
//
// It does not know what a container must look like (package container does),
// nor its content.
package dockerapi
