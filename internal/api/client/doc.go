// Package client gives commands, the page, the terminal UI and tools access to an office.
//
// It owns the clients of an office that a process serves (Dial) and of one that was never opened
// (None), which answer the same requests. Callers check only whether work has started there
// (IsAtWork, Server), to tell people about it, and whether the office was never opened (IsMissing).
//
// A read is a view of one moment. A command has an id that makes repeats harmless. Errors are the
// company's own, as *company.Error. The package decides nothing, stores nothing and prints
// nothing.
package client
