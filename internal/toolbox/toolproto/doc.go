// Package toolproto defines the protocol between the worker process and the toolbox, the small program that is PID 1
// of a worker's container. It also has the client. The server is package toolserver.
//
// The protocol is plain HTTP with JSON over package mux. POST /v1/<tool> takes a request struct of this package, and
// returns a result struct, or status 422 with a Refusal. A Refusal is a result for the model: a bad path, missing
// text, or a command that needs a terminal. Any other error means that the link or the container is broken, and is a
// *Broken.
//
// The container is the agent's, so no answer is trusted. The client limits what it reads. Facts come from git objects
// that the host checks, and from exit codes that the daemon reports.
package toolproto
