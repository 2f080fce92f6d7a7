// Package client is an office as a surface sees it: a command, a page, a screen
// or another program's tool.
//
// It owns the three ways to an office, which answer the same requests and are
// told apart by no caller: one that this process holds (Local), one that another
// process serves (Dial), and one that was never opened (None).
//
// It promises that a read is a view of one moment, that a command carries an id
// which makes a repeat harmless, and that errors are the company's own, as
// *company.Error. It decides nothing, keeps nothing and prints nothing.
package client
