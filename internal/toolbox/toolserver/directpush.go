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

// A push by git starts eight processes on both sides, two of which load a TLS library, before it sends the first byte
// of a commit. The gateway's references are known here, so the essential request is made directly. The same checks
// apply to it.

// push moves one reference at origin.
type push struct {
	ref      string
	old, new string // old is "" for a new reference
}

const (
	noObject      = "0000000000000000000000000000000000000000"
	maxDirectPack = 8 << 20 // held in memory; git streams larger packs
	maxPushAnswer = 1 << 20
	pushTimeout   = 2 * time.Minute
)

// errNotDirect means that git must make the push: it supports more cases and reports more.
var errNotDirect = errors.New("this push is git's")

// gatewayClient sends requests to the gateway, one for each connection.
var gatewayClient = &http.Client{
	Timeout:       pushTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// pushDirectly makes a single push. It assumes that origin has the objects of its known references. A refusal is a
// *gitFailed, as from git itself. errNotDirect means that the push was not made.
func (s *Server) pushDirectly(ctx context.Context, p push) error {
	if !strings.HasPrefix(s.repo.origin, "http://127.0.0.1:") || len(p.new) != len(noObject) {
		return errNotDirect
	}
	revs := []string{p.new, "^" + s.repo.head}
	for _, id := range s.repo.pushed {
		revs = append(revs, "^"+id)
	}
	pack, err := s.runGit(ctx, &gitRun{stdin: strings.Join(revs, "\n") + "\n"}, "pack-objects", "--revs", "--stdout",
		"--thin", "--delta-base-offset", "-q")
	if err != nil || len(pack) > maxDirectPack {
		return errNotDirect
	}
	line := fmt.Sprintf("%s %s %s\x00 report-status side-band-64k object-format=sha1 agent=toolbox", orNoObject(p.old),
		p.new, p.ref)
	body := fmt.Sprintf("%04x%s0000%s", len(line)+4, line, pack)
	req, err := http.NewRequestWithContext(
		ctx, http.MethodPost, s.repo.origin+"/git-receive-pack", strings.NewReader(body))
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

// refusedPush returns origin's refusal in git's wording. If the reference moved at origin it returns errNotDirect, so
// that git finds out.
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
	fmt.Fprintf(&text, " ! [remote rejected] %s -> %s (%s)\nerror: failed to push some refs to '%s'\n", p.new[:7], p.ref,
		reason, s.repo.origin)
	return &gitFailed{args: []string{"push"}, code: 1, stderr: text.String()}
}

// notePushed records a reference that origin has now. For a branch it also updates the remote-tracking reference, as
// git does.
func (s *Server) notePushed(p push) {
	s.repo.pushed[p.ref] = p.new
	branch, ok := strings.CutPrefix(p.ref, "refs/heads/")
	if !ok {
		return
	}
	name := ".git/refs/remotes/origin/" + branch
	_ = s.root.MkdirAll(path.Dir(name), 0o755) // a failure shows up below
	// Rename under git's own lock of the name, so that a reader sees the old or the new value.
	file, err := s.root.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return // git makes the next push, and asks origin
	}
	_, err = file.WriteString(p.new + "\n")
	if err = errors.Join(err, file.Close()); err == nil {
		err = s.root.Rename(name+".lock", name)
	}
	if err != nil {
		_ = s.root.Remove(name + ".lock")
	}
}

// readPushAnswer splits receive-pack's answer into its report and its text for people.
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

// cutPacket returns one pkt-line of git and the rest. A pkt-line has four hexadecimal digits with its total length,
// then its data.
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

// pushCheckpoint pushes the run's checkpoint.
func (s *Server) pushCheckpoint(ctx context.Context, run, oid string) error {
	ref := "refs/company/checkpoint/" + run
	err := s.pushDirectly(ctx, push{ref: ref, old: s.repo.pushed[ref], new: oid})
	if errors.Is(err, errNotDirect) {
		if _, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", "origin",
			fmt.Sprintf("+%s:%s", oid, ref)); err == nil {
			s.repo.pushed[ref] = oid
		}
	}
	return asRefusal(err, "the work tree was not saved")
}

// pushBranch pushes HEAD, which has the given parents, as the branch.
func (s *Server) pushBranch(ctx context.Context, head string, parents []string) error {
	ref := "refs/heads/" + s.repo.branch
	old, err := s.repo.pushed[ref], errNotDirect
	// A commit with another parent may drop commits that are at origin.
	if old == "" && len(parents) > 0 || slices.Contains(parents, old) {
		err = s.pushDirectly(ctx, push{ref: ref, old: old, new: head})
	}
	if errors.Is(err, errNotDirect) {
		if _, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", "origin", "HEAD:"+ref); err == nil {
			s.repo.pushed[ref] = head
		}
	}
	return asRefusal(err, "the commit is there but not pushed; after an amend or a rebase: git reset --soft origin/"+
		s.repo.branch+" and commit again; to undo the commit: git reset --soft HEAD~1")
}
