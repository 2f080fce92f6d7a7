// Package client gives commands, the page, the terminal UI and tools access to an office.
//
// It owns the three kinds of clients, which all answer the same requests: for an office that this
// process holds (Local), that another process serves (Dial), or that was never opened (None).
// Callers use the same calls for each. They check only whether another process does the work
// (IsServed, StaysServing, Server), to tell people about it. The feed also checks for an office
// that was never opened (IsMissing), to wait for its first event.
//
// A read is a view of one moment. A command has an id that makes repeats harmless. Errors are the
// company's own, as *company.Error. The package decides nothing, stores nothing and prints
// nothing.
package client
