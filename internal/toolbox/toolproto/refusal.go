package toolproto

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/lib/blocklist"
)

// Kind is the reason why a tool refused, so that the host can count refusals and react.
type Kind string

const (
	KindArgument    Kind = "argument"    // a malformed or missing argument
	KindOutside     Kind = "outside"     // a link out of the workspace, or a path in .git (a security event, WRK-4)
	KindDenied      Kind = "denied"      // the file system refuses (a security event, WRK-4)
	KindNotFound    Kind = "not_found"   // no such file, process or directory
	KindStale       Kind = "stale"       // not read in its current content
	KindMismatch    Kind = "mismatch"    // the text to replace is absent or ambiguous
	KindTooLarge    Kind = "too_large"   // over a limit
	KindInteractive Kind = "interactive" // a command that needs a terminal (PRC-2)
	KindNothing     Kind = "nothing"     // nothing to commit
	KindGit         Kind = "git"         // git, or the push, refused
	KindCrowded     Kind = "crowded"     // commands have filled the container with processes
	KindService     Kind = "service"     // a service of the container does not start

	KindDestructive Kind = blocklist.DestructiveCommand // a command of the list (APR-10)
	KindSecret      Kind = blocklist.SecretAccess       // a file with secrets (APR-11)
	KindNotAllowed  Kind = "command_not_in_allowlist"   // a program that workers.commands does not list
)

// Refusal is a tool's refusal: a result for the model, never a fault of the program.
type Refusal struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"` // the fault, with advice
}

func (r *Refusal) Error() string { return r.Message }

// Refuse returns a Refusal with a formatted message.
func Refuse(kind Kind, format string, args ...any) *Refusal {
	return &Refusal{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// ByHost reports whether the host failed to store a push because its disk is full or broken. The agent cannot fix
// that.
func (r *Refusal) ByHost() bool {
	_, remote, ok := strings.Cut(r.Message, "remote:")
	return ok && slices.ContainsFunc(writeFailures, func(s string) bool { return strings.Contains(remote, s) })
}

// writeFailures are git's messages for failed writes. For a reference's lock, and for objects that leave quarantine,
// git omits the system's error.
var writeFailures = []string{
	"No space left on device", "Disk quota exceeded", "Input/output error", "Read-only file system",
	"couldn't write '", "unable to migrate objects to permanent storage",
}
