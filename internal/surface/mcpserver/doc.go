// Package mcpserver serves an office to clients of the Model Context Protocol, such as the agent
// of an editor. It offers tools and resources over one connection.
//
// It owns the names, schemas and texts of the tools, the permissions of a grant, and the size
// limits of an answer. It promises:
//
//   - A tool without its grant is not listed and cannot be called.
//   - Arguments are checked against their schema first.
//   - An error has the company's code, its cause and the next step.
//   - Text of models, people and repositories is sanitised, limited in size, and marked as data.
//   - A command with a request id is run once.
//   - No goroutine of a connection outlives it.
//
// It uses packages client, view and feed. Its Host provides the parts that an office's API lacks:
// patches, stored transcripts, and starting a company in the background. It opens no office by
// itself, decides nothing about tasks, and writes only protocol messages.
package mcpserver
