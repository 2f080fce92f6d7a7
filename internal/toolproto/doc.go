// Package toolproto is the tools' protocol between the worker process and the
// toolbox, the small program that is PID 1 of a worker's container, and its
// client. The server is package toolserver.
//
// The protocol is plain HTTP with JSON over package mux: POST /v1/<tool> with a
// request struct of this package, answered with a result struct, or with 422
// and a Refusal. A Refusal is a result for the model: a bad path, text that is
// not there, a command that wants a terminal. Every other error means that the
// link or the container is broken, and is a *Broken.
//
// Nothing that comes back is believed: the container is the agent's. The
// client bounds what it reads; facts come from git objects that the host
// checks and from exit codes that the daemon reports.
package toolproto
