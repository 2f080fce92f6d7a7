// Package forge hands pull requests to people. It owns what every forge must
// do: find our pull request or open it, exactly once per task. Drivers live in
// subpackages. It promises that what it calls ours carries our office and
// task. It does not push, and it never merges.
package forge

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
)

// PR is what a forge is asked to open.
type PR struct {
	Office string
	Task   company.TaskID
	Number int // wanted number; forges that number themselves ignore it
	Title  string
	Body   string // Markdown; Marker is added to it
	Branch string
	Base   string
	Head   company.OID
}

// Marker is the line by which a pull request of ours is known again.
func (p PR) Marker() string {
	return fmt.Sprintf("<!-- company office=%s task=%s -->", p.Office, p.Task)
}

// Text is the body with its marker.
func (p PR) Text() string { return strings.TrimRight(p.Body, "\n") + "\n\n" + p.Marker() + "\n" }

// Opened is a pull request that exists.
type Opened struct {
	Number int
	URL    string
}

// Forge opens pull requests. Methods may be called by many goroutines.
type Forge interface {
	// Kind is the value of forge.kind: github, gitea, local.
	Kind() string
	// Open finds the pull request of this office and task, brings its title
	// and body up to date, or opens it. Calling it again finds the same one.
	// E_CONFLICT: there is one under that number or branch that is not ours.
	Open(ctx context.Context, pr PR) (Opened, error)
}
