// Package mcpserver is an office for the agent of an editor, and for every other client of the
// Model Context Protocol: its tools and resources over one connection.
//
// It owns the names, the schemas and the texts of the tools, what a grant lets a client do,
// and the bounds of an answer. It promises that a tool without its grant is not listed and
// cannot be called; that arguments are checked against their schema before anything else;
// that an error carries the company's code, its cause and what to do next; that text of
// models, of people and of repositories comes sanitised, bounded, and between two lines that
// mark it as data; that a command with a request id is done once; and that no goroutine of a
// connection outlives it.
//
// It stands on client, view and feed. What an office's API does not give (patches, kept
// transcripts, a company started apart) comes from its Host. It opens no office of its own
// accord, decides nothing about tasks, and writes nothing beside the protocol.
package mcpserver
