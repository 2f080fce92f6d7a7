// Package demo shows a company at work on a small project, and then checks
// from outside that it did what it says.
//
// It owns a folder with a fresh git repository of examples/stockroom (under
// names drawn from a seed), a bare origin, the operator's config, the model
// (package director, behind a real OpenAI-protocol server), a record of what
// the Docker daemon says, and a bystander: a container of somebody else's that
// is there before the company comes. It removes the bystander; the folder
// stays, to be looked at. Nothing in it is part of company: the program is run
// as a user runs it, and judged by package healthcheck.
package demo
