// Package client is an office as a surface sees it: a command, a page, a screen
// or another program's tool.
//
// It owns the three ways to an office, which all answer the same requests: one that
// this process holds (Local), one that another process serves (Dial), and one that was
// never opened (None). A caller sends the same calls to each. It asks only whether
// another process does the work (IsServed, StaysServing, Server), because people are
// told who does it and when it ends; feed alone asks for an office that was never opened
// (IsMissing), whose first event it waits for.
//
// It promises that a read is a view of one moment, that a command carries an id
// which makes a repeat harmless, and that errors are the company's own, as
// *company.Error. It decides nothing, keeps nothing and prints nothing.
package client
