package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// Our text in a pull request is enclosed by two comments that a forge does not show. The first identifies its owner.
// Text outside of them belongs to people and is kept.
const endMarker = "<!-- /company -->"

var beginMarker = lazyregexp.New(
	`<!-- company office=([a-z0-9]{1,16}) task=(t[0-9]{1,9})( draft)?(?: title=([0-9a-f]{8}))?(?: note=([A-Za-z0-9._:-]{1,100}))? -->`)

// Marker returns the line that identifies a pull request of ours. It contains a hash of our title, so that a title
// edited by a person is recognised.
func (p PR) Marker() string {
	draft := ""
	if p.Draft {
		draft = " draft"
	}
	return fmt.Sprintf("<!-- company office=%s task=%s%s title=%s -->", p.Office, p.Task, draft,
		titleHash(CleanTitle(p.Title)))
}

// titleHash returns a short hash that distinguishes titles. It protects no secret.
func titleHash(title string) string {
	sum := sha256.Sum256([]byte(title))
	return hex.EncodeToString(sum[:4])
}

// ResolveTitle returns the new title of a pull request that now has the given title and body. A person's title is
// kept. A title that we wrote, according to the hash in the body, is updated.
func (p PR) ResolveTitle(now, body string) string {
	if o, ok := ParseOwnership(body); !ok || o.title != titleHash(now) {
		return now
	}
	return CleanTitle(p.Title)
}

// MarkedBody returns the opening and the body between its markers.
func (p PR) MarkedBody() string {
	if p.Opening == "" {
		return p.markedPart()
	}
	return strings.TrimRight(p.Opening, "\n") + "\n\n" + p.markedPart()
}

// markedPart returns the body between its markers.
func (p PR) markedPart() string {
	return p.Marker() + "\n" + strings.TrimRight(p.Body, "\n") + "\n" + endMarker + "\n"
}

// Ownership holds the owner that a body's marker names.
type Ownership struct {
	Office string
	Task   company.TaskID
	Draft  bool   // opened by us as a draft and not yet marked ready by us
	title  string // hash of the title that we wrote; empty if unknown
}

// ParseOwnership reads the first ownership marker of a body. ok is false if there is none.
func ParseOwnership(body string) (o Ownership, ok bool) {
	for _, m := range beginMarker.FindAllStringSubmatch(body, -1) {
		if m[5] == "" {
			return Ownership{Office: m[1], Task: company.TaskID(m[2]), Draft: m[3] != "", title: m[4]}, true
		}
	}
	return Ownership{}, false
}

// IsOurs reports whether a body's marker names this office and task.
func IsOurs(body, office string, task company.TaskID) bool {
	o, ok := ParseOwnership(body)
	return ok && o.Office == office && o.Task == task
}

// Owns reports whether a pull request is the requested one: by its marker, or because its number was delivered
// before.
func (p PR) Owns(number int, body string) bool {
	return p.Known > 0 && number == p.Known || IsOurs(body, p.Office, p.Task)
}

// UpdateBody returns a body with our part updated. It keeps people's text before and after it byte for byte. If the
// end marker is missing, only the first marker is certainly ours, so the rest is kept too. If that is missing as
// well, our part is appended.
func (p PR) UpdateBody(body string) string {
	at := beginMarker.FindStringIndex(body)
	switch {
	case at == nil && strings.TrimSpace(body) == "":
		return p.MarkedBody()
	case at == nil:
		return body + "\n\n" + p.markedPart()
	}
	before, after := body[:at[0]], body[at[1]:]
	if i := strings.Index(after, endMarker); i >= 0 {
		after = after[i+len(endMarker):]
	}
	return before + strings.TrimRight(p.markedPart(), "\n") + after
}

// CleanTitle returns a one-line title that a forge accepts.
func CleanTitle(s string) string {
	if title := company.TitleOf(strings.NewReplacer("\n", " ", "\r", " ").Replace(s)); title != "" {
		return title
	}
	return "untitled"
}
