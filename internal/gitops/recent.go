package gitops

import (
	"context"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

// Touched is what one commit changed.
type Touched struct {
	Subject string // the first line of its message, as it was written
	When    time.Time
	Paths   []string // as bytes in git; not always UTF-8
}

// mostRecent bounds what git may print about the recent commits. Bytes.
const mostRecent = 4 << 20

// recentLimit bounds the time that git may take for it. A commit of the past may hold a tree
// of some hundred KB that unfolds to thousands of millions of paths, and git keeps all of
// them in memory before it prints the first.
const recentLimit = 5 * time.Second

// RecentChanges lists the newest commits that a commit stands on, itself included, at most
// limit, newest first, with the files that each changed. Merges are left out. Where the
// list would take more than 4 MiB, or git more time or memory than it is given, the oldest are missing.
func (m *Mirror) RecentChanges(ctx context.Context, at company.OID, limit int) ([]Touched, error) {
	if !at.Valid() || limit < 1 {
		return nil, company.E(company.EInvalid, "a full object id and a limit are needed")
	}
	out := gitexec.NewHead(mostRecent)
	r, err := m.s.run(ctx, call{dir: m.dir, stdout: out, limited: true, limit: recentLimit, args: []string{"log", "--no-merges", "--max-count=" + strconv.Itoa(limit),
		"--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-z", "--format=%x01%ct%x01%s", string(at)}})
	hasRunOut := company.CodeOf(err) == company.ETimeout && ctx.Err() == nil || err == nil && strings.Contains(r.stderr, "ut of memory")
	switch {
	case hasRunOut:
	case err != nil:
		return nil, err
	case r.exit != 0:
		return nil, company.E(company.EGit, "git log failed").Because(r.failureReason())
	}
	return parseTouched(out.String(), hasRunOut || len(out.Bytes()) == mostRecent), nil
}

// parseTouched reads what git log -z --name-only prints. The last piece of a list that was
// cut is left out.
func parseTouched(text string, isCut bool) []Touched {
	var out []Touched
	pieces := strings.Split(text, "\x00")
	if isCut {
		pieces = pieces[:len(pieces)-1]
	}
	for _, piece := range pieces {
		piece = strings.TrimPrefix(piece, "\n")
		if head, isCommit := strings.CutPrefix(piece, "\x01"); isCommit {
			when, subject, _ := strings.Cut(head, "\x01")
			if seconds, err := strconv.ParseInt(when, 10, 64); err == nil {
				out = append(out, Touched{Subject: subject, When: time.Unix(seconds, 0).UTC()})
				continue
			}
		}
		if piece != "" && len(out) > 0 {
			last := &out[len(out)-1]
			last.Paths = append(last.Paths, piece)
		}
	}
	return out
}
