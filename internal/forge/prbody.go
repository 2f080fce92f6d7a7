package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// The text that we keep in a pull request stands between two comments, which a
// forge does not show. The first says whose it is. What stands outside is
// people's, and kept.
const endMarker = "<!-- /company -->"

var beginMarker = lazyregexp.New(`<!-- company office=([a-z0-9]{1,16}) task=(t[0-9]{1,9})( draft)?(?: title=([0-9a-f]{8}))?(?: note=([A-Za-z0-9._:-]{1,100}))? -->`)

// Marker is the line by which a pull request of ours is known again. It holds a
// mark of our title, so that a title which a person wrote is recognised.
func (p PR) Marker() string {
	draft := ""
	if p.Draft {
		draft = " draft"
	}
	return fmt.Sprintf("<!-- company office=%s task=%s%s title=%s -->", p.Office, p.Task, draft, titleHash(CleanTitle(p.Title)))
}

// titleHash tells titles apart; it hides nothing.
func titleHash(title string) string {
	sum := sha256.Sum256([]byte(title))
	return hex.EncodeToString(sum[:4])
}

// ResolveTitle is the title that a pull request gets where it has title now and
// body. A person's title stays: only one that we wrote, which the mark in the
// body tells, is brought up to date.
func (p PR) ResolveTitle(now, body string) string {
	if o, ok := ParseOwnership(body); !ok || o.title != titleHash(now) {
		return now
	}
	return CleanTitle(p.Title)
}

// MarkedBody is the body between its markers.
func (p PR) MarkedBody() string {
	return p.Marker() + "\n" + strings.TrimRight(p.Body, "\n") + "\n" + endMarker + "\n"
}

// Ownership is what a body says about whose pull request it is.
type Ownership struct {
	Office string
	Task   company.TaskID
	Draft  bool   // opened by us as a draft, and not made ready by us
	title  string // mark of the title that we wrote; empty: not known
}

// ParseOwnership reads the first marker of a body. ok is false when there is none.
func ParseOwnership(body string) (o Ownership, ok bool) {
	for _, m := range beginMarker.FindAllStringSubmatch(body, -1) {
		if m[5] == "" {
			return Ownership{Office: m[1], Task: company.TaskID(m[2]), Draft: m[3] != "", title: m[4]}, true
		}
	}
	return Ownership{}, false
}

// IsOurs reports whether a body carries this office and task.
func IsOurs(body, office string, task company.TaskID) bool {
	o, ok := ParseOwnership(body)
	return ok && o.Office == office && o.Task == task
}

// Owns says whether the pull request with this number and body is the one that
// is asked for: by its mark, or since it is the one that was delivered before.
func (p PR) Owns(number int, body string) bool {
	return p.Known > 0 && number == p.Known || IsOurs(body, p.Office, p.Task)
}

// UpdateBody is a body with our part brought up to date. What people wrote
// before and after it is kept byte for byte. Where the end marker is gone, only
// the first line is surely ours, so the rest is kept as well; where the first
// line is gone too, our part comes after all that is there.
func (p PR) UpdateBody(body string) string {
	at := beginMarker.FindStringIndex(body)
	switch {
	case at == nil && strings.TrimSpace(body) == "":
		return p.MarkedBody()
	case at == nil:
		return body + "\n\n" + p.MarkedBody()
	}
	before, after := body[:at[0]], body[at[1]:]
	if i := strings.Index(after, endMarker); i >= 0 {
		after = after[i+len(endMarker):]
	}
	return before + strings.TrimRight(p.MarkedBody(), "\n") + after
}

// CleanTitle is a title that a forge takes, of a text with one line.
func CleanTitle(s string) string {
	if title := company.TitleOf(strings.NewReplacer("\n", " ", "\r", " ").Replace(s)); title != "" {
		return title
	}
	return "untitled"
}
