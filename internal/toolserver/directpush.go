package toolserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A push by git starts eight processes on both sides, two of which load a TLS
// library, before the first byte of a commit travels. The gateway's references are
// known here, so the one request that counts is made directly: the same request,
// to the same checks.

// push is one reference that is to move at the origin.
type push struct {
	ref      string
	old, new string // old "": there is none yet
}

const (
	noObject      = "0000000000000000000000000000000000000000"
	maxDirectPack = 8 << 20 // bytes that are held in memory; git sends a larger pack as it makes it
	maxPushAnswer = 1 << 20
	pushTimeout   = 2 * time.Minute
)

// errNotDirect says that a push is to be made by git: it knows more ways, and says
// more.
var errNotDirect = errors.New("this push is git's")

// gatewayClient talks to the gateway; a connection carries one request.
var gatewayClient = &http.Client{
	Timeout:       pushTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// pushDirectly makes one push. What is at the origin already is what its known
// references hold. A refusal is a *gitFailed, as git's own would be; errNotDirect: it
// has not happened.
func (s *Server) pushDirectly(ctx context.Context, p push) error {
	if !strings.HasPrefix(s.repo.origin, "http://127.0.0.1:") || len(p.new) != len(noObject) {
		return errNotDirect
	}
	revs := []string{p.new, "^" + s.repo.head}
	for _, id := range s.repo.pushed {
		revs = append(revs, "^"+id)
	}
	pack, err := s.runGit(ctx, &gitRun{stdin: strings.Join(revs, "\n") + "\n"}, "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
	if err != nil || len(pack) > maxDirectPack {
		return errNotDirect
	}
	line := fmt.Sprintf("%s %s %s\x00 report-status side-band-64k object-format=sha1 agent=toolbox", orNoObject(p.old), p.new, p.ref)
	body := fmt.Sprintf("%04x%s0000%s", len(line)+4, line, pack)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.repo.origin+"/git-receive-pack", strings.NewReader(body))
	if err != nil {
		return errNotDirect
	}
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	resp, err := gatewayClient.Do(req)
	if err != nil {
		return errNotDirect
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxPushAnswer))
	if err != nil || resp.StatusCode != http.StatusOK {
		return errNotDirect
	}
	report, said := readPushAnswer(answer)
	if report == "unpack ok\nok "+p.ref+"\n" {
		s.notePushed(p)
		return nil
	}
	return s.refusedPush(p, report, said)
}

func orNoObject(id string) string {
	if id == "" {
		return noObject
	}
	return id
}

// refusedPush is the origin's refusal in git's words. A reference that is not where
// it was thought to be is for git to find out about.
func (s *Server) refusedPush(p push, report, said string) error {
	_, reason, ok := strings.Cut(report, "ng "+p.ref+" ")
	reason, _, _ = strings.Cut(reason, "\n")
	if !ok || !strings.Contains(reason, "hook declined") && reason != "unpacker error" {
		return errNotDirect
	}
	var text strings.Builder
	for line := range strings.Lines(said) {
		text.WriteString("remote: " + strings.TrimRight(line, "\r\n") + "\n")
	}
	fmt.Fprintf(&text, " ! [remote rejected] %s -> %s (%s)\nerror: failed to push some refs to '%s'\n", p.new[:7], p.ref, reason, s.repo.origin)
	return &gitFailed{args: []string{"push"}, code: 1, stderr: text.String()}
}

// notePushed remembers what the origin has, as git does for branches: in a file of
// the repository.
func (s *Server) notePushed(p push) {
	s.repo.pushed[p.ref] = p.new
	branch, ok := strings.CutPrefix(p.ref, "refs/heads/")
	if !ok {
		return
	}
	name := ".git/refs/remotes/origin/" + branch
	_ = s.root.MkdirAll(path.Dir(name), 0o755) // what fails here fails below
	// By rename, under git's own lock of the name: a reader sees the old or the new.
	f, err := s.root.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return // the next push is git's, which looks at the origin
	}
	_, err = f.WriteString(p.new + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.root.Rename(name+".lock", name)
	}
	if err != nil {
		_ = s.root.Remove(name + ".lock")
	}
}

// readPushAnswer separates the two parts of receive-pack's answer: its report, and its
// text for people.
func readPushAnswer(answer []byte) (report, said string) {
	var inner, text bytes.Buffer
	for len(answer) > 0 {
		line, rest, ok := cutPacket(answer)
		if !ok {
			break
		}
		answer = rest
		switch {
		case len(line) == 0:
		case line[0] == 1:
			inner.Write(line[1:])
		case line[0] == 2 || line[0] == 3:
			text.Write(line[1:])
		}
	}
	var out strings.Builder
	for data := inner.Bytes(); len(data) > 0; {
		line, rest, ok := cutPacket(data)
		if !ok {
			break
		}
		data = rest
		out.Write(line)
	}
	return out.String(), text.String()
}

// cutPacket cuts one of git's packets off: four digits of its whole length, and its
// bytes.
func cutPacket(data []byte) (line, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	n, err := strconv.ParseUint(string(data[:4]), 16, 16)
	switch {
	case err != nil || int(n) > len(data):
		return nil, nil, false
	case n < 4: // a flush
		return nil, data[4:], true
	}
	return data[4:n], data[n:], true
}

// pushCheckpoint moves the run's checkpoint.
func (s *Server) pushCheckpoint(ctx context.Context, run, oid string) error {
	ref := "refs/company/checkpoint/" + run
	err := s.pushDirectly(ctx, push{ref: ref, old: s.repo.pushed[ref], new: oid})
	if errors.Is(err, errNotDirect) {
		if _, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", "origin", fmt.Sprintf("+%s:%s", oid, ref)); err == nil {
			s.repo.pushed[ref] = oid
		}
	}
	return asRefusal(err, "the work tree was not saved")
}

// pushBranch moves the branch to HEAD, which stands on these parents.
func (s *Server) pushBranch(ctx context.Context, head string, parents []string) error {
	ref := "refs/heads/" + s.repo.branch
	old, err := s.repo.pushed[ref], errNotDirect
	// One that stands on something else may leave out commits that are there.
	if old == "" && len(parents) > 0 || slices.Contains(parents, old) {
		err = s.pushDirectly(ctx, push{ref: ref, old: old, new: head})
	}
	if errors.Is(err, errNotDirect) {
		if _, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", "origin", "HEAD:"+ref); err == nil {
			s.repo.pushed[ref] = head
		}
	}
	return asRefusal(err, "the commit is there but not pushed; after an amend or a rebase: git reset --soft origin/"+s.repo.branch+" and commit again; to undo the commit: git reset --soft HEAD~1")
}
