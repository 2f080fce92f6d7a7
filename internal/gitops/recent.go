package gitops

import (
	"context"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// Touched describes the changes of one commit.
type Touched struct {
	Subject string // the first line of its message
	When    time.Time
	Paths   []string // as bytes in git; not always UTF-8
}

// mostRecent limits git's output about recent commits, in bytes.
const mostRecent = 4 << 20

// recentLimit limits git's time for it. An old commit may have a tree of some hundred KB that expands to billions of
// paths, and git keeps all of them in memory before it prints the first.
const recentLimit = 5 * time.Second

// RecentChanges lists a commit and its newest ancestors with the files that each changed, newest first, at most
// limit. It leaves out merges. If the list exceeds 4 MiB, or git exceeds its time or memory limit, the oldest commits
// are missing.
func (m *Mirror) RecentChanges(ctx context.Context, at company.OID, limit int) ([]Touched, error) {
	if !at.Valid() || limit < 1 {
		return nil, company.E(company.EInvalid, "a full object id and a limit are needed")
	}
	out := gitexec.NewHead(mostRecent)
	result, err := m.s.run(
		ctx, call{dir: m.dir, stdout: out, limited: true, limit: recentLimit,
			args: []string{"log", "--no-merges", "--max-count=" + strconv.Itoa(limit),
				"--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-z", "--format=%x01%ct%x01%s",
				string(at)}})
	hasRunOut := company.CodeOf(err) == company.ETimeout && ctx.Err() == nil ||
		err == nil && strings.Contains(result.stderr, "ut of memory")
	switch {
	case hasRunOut:
	case err != nil:
		return nil, err
	case result.exit != 0:
		return nil, company.E(company.EGit, "git log failed").Because(result.failureReason())
	}
	return parseTouched(out.String(), hasRunOut || len(out.Bytes()) == mostRecent), nil
}

// parseTouched parses the output of git log -z --name-only. It drops the last piece of truncated output.
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
