package gitops

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

// Modes of tree entries as git writes them.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeSymlink = 0o120000
	ModeGitlink = 0o160000
	ModeTree    = 0o040000
)

const (
	maxTreeBytes   = 64 << 20  // one tree object that we parse
	maxCommitBytes = 1 << 20   // one commit object
	maxReadBytes   = 512 << 20 // one blob held in memory
)

// batch is one git cat-file --batch-command: many questions, one process. It
// belongs to one goroutine.
type batch struct {
	s     *Store
	ctx   context.Context
	stop  context.CancelFunc
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   *gitexec.Head
	start time.Time
}

// startBatch starts the process; close ends it. env adds variables (the object
// directories of a push), limited sets resource limits.
func (s *Store) startBatch(ctx context.Context, dir string, env []string, limited bool) (*batch, error) {
	if err := s.checkUntampered(dir); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, localLimit)
	b := &batch{s: s, ctx: ctx, stop: stop, start: time.Now(), err: gitexec.NewHead(gitexec.MaxStderr)}
	git := s.command(call{dir: dir, args: []string{"cat-file", "--batch-command"}, env: env, limited: limited})
	b.cmd = git.Process(ctx)
	b.cmd.Stderr = b.err
	in, err := b.cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = b.cmd.StdoutPipe(); err == nil {
			b.in, b.out = in, bufio.NewReaderSize(out, 64<<10)
			err = git.Start(b.cmd)
		}
	}
	if err != nil {
		stop()
		return nil, company.E(company.EGit, "git cat-file could not be run").Wrap(err)
	}
	return b, nil
}

// close ends the process and waits for it.
func (b *batch) close() {
	_ = b.in.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(b.out, 1)) // usually already at its end
	b.stop()
	_ = b.cmd.Wait()
	b.s.logOf(b.ctx).writeLine("cat-file", []string{"--batch-command"}, max(0, gitexec.ExitCode(b.cmd)), time.Since(b.start), b.err.String())
}

// processError explains a failed conversation with the process.
func (b *batch) processError(err error) error {
	if b.ctx.Err() != nil {
		return contextError(b.ctx, "cat-file")
	}
	return company.E(company.EGit, "git cat-file ended unexpectedly").Because(strings.TrimSpace(b.err.String())).Wrap(err)
}

// object is what git knows of an object without its content.
type object struct {
	kind string // commit, tree, blob, tag; empty: missing
	size int64
}

// readInfos asks for many objects, in slices small enough that neither side
// blocks on a full pipe.
func (b *batch) readInfos(ids []company.OID) ([]object, error) {
	out := make([]object, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), 256)
		var q bytes.Buffer
		for _, id := range ids[:n] {
			q.WriteString("info ")
			q.WriteString(string(id))
			q.WriteByte('\n')
		}
		if _, err := b.in.Write(q.Bytes()); err != nil {
			return nil, b.processError(err)
		}
		for range n {
			o, err := b.readHeader()
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		ids = ids[n:]
	}
	return out, nil
}

// readHeader reads one answer line: "<oid> <kind> <size>" or "<oid> missing".
func (b *batch) readHeader() (object, error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return object{}, b.processError(err)
	}
	f := strings.Fields(line)
	if len(f) == 2 && f[1] == "missing" {
		return object{}, nil
	}
	if len(f) == 3 {
		if size, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			return object{kind: f[1], size: size}, nil
		}
	}
	return object{}, b.processError(fmt.Errorf("unexpected answer %q", line))
}

func (b *batch) readInfo(id company.OID) (object, error) {
	o, err := b.readInfos([]company.OID{id})
	if err != nil {
		return object{}, err
	}
	return o[0], nil
}

// copyTo streams the content of an object of the wanted kind and size ≤ limit.
func (b *batch) copyTo(w io.Writer, id company.OID, kind string, limit int64) error {
	o, err := b.readInfo(id)
	if err != nil {
		return err
	}
	if o.kind != kind {
		return company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, id))
	}
	if o.size > limit {
		return company.E(company.EObjects, fmt.Sprintf("the %s %s has %d bytes, more than %d", kind, id, o.size, limit))
	}
	if _, err := io.WriteString(b.in, "contents "+string(id)+"\n"); err != nil {
		return b.processError(err)
	}
	if o, err = b.readHeader(); err != nil {
		return err
	}
	if _, err := io.CopyN(w, b.out, o.size); err != nil {
		return b.processError(err)
	}
	if _, err := b.out.Discard(1); err != nil { // the newline after the content
		return b.processError(err)
	}
	return nil
}

func (b *batch) read(id company.OID, kind string, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	err := b.copyTo(&buf, id, kind, limit)
	return buf.Bytes(), err
}

// maxAhead bounds the objects that are asked for before the first of them is read: the
// questions fit into a pipe, so that neither side blocks.
const maxAhead = 32

// ask asks for an object, which readAsked reads.
func (b *batch) ask(id company.OID) error {
	if _, err := io.WriteString(b.in, "contents "+string(id)+"\n"); err != nil {
		return b.processError(err)
	}
	return nil
}

// readAsked reads the object that was asked for first, of the wanted kind and size ≤
// limit. After an error nothing can be read any more.
func (b *batch) readAsked(id company.OID, kind string, limit int64) ([]byte, error) {
	o, err := b.readHeader()
	if err != nil {
		return nil, err
	}
	if o.kind != kind {
		return nil, company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, id))
	}
	if o.size > limit {
		return nil, company.E(company.EObjects, fmt.Sprintf("the %s %s has %d bytes, more than %d", kind, id, o.size, limit))
	}
	text := make([]byte, o.size)
	if _, err := io.ReadFull(b.out, text); err != nil {
		return nil, b.processError(err)
	}
	if _, err := b.out.Discard(1); err != nil { // the newline after the content
		return nil, b.processError(err)
	}
	return text, nil
}

// treeEntry is one line of a tree object. Names are bytes, not always UTF-8.
type treeEntry struct {
	mode int
	name string
	id   company.OID
}

func (b *batch) readTree(id company.OID) ([]treeEntry, error) {
	raw, err := b.read(id, "tree", maxTreeBytes)
	if err != nil {
		return nil, err
	}
	return parseTree(raw, len(id)/2)
}

// parseTree takes a tree object apart; idLen is the length of a raw id.
func parseTree(raw []byte, idLen int) ([]treeEntry, error) {
	var out []treeEntry
	for len(raw) > 0 {
		sp := bytes.IndexByte(raw, ' ')
		nul := bytes.IndexByte(raw, 0)
		if sp < 1 || nul <= sp || len(raw) < nul+1+idLen {
			return nil, company.E(company.EObjects, "a tree object is malformed")
		}
		mode, err := strconv.ParseInt(string(raw[:sp]), 8, 32)
		if err != nil {
			return nil, company.E(company.EObjects, "a tree object is malformed").Wrap(err)
		}
		out = append(out, treeEntry{
			mode: int(mode), name: string(raw[sp+1 : nul]),
			id: company.OID(hex.EncodeToString(raw[nul+1 : nul+1+idLen])),
		})
		raw = raw[nul+1+idLen:]
	}
	return out, nil
}

// Commit is a commit object.
type Commit struct {
	OID       company.OID
	Tree      company.OID
	Parents   []company.OID
	Author    Person
	Committer Person
	When      time.Time // of the committer
	Message   string
	Raw       string // the whole object
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	s, _, _ := strings.Cut(c.Message, "\n")
	return s
}

func (b *batch) readCommit(id company.OID) (Commit, error) {
	raw, err := b.read(id, "commit", maxCommitBytes)
	if err != nil {
		return Commit{}, err
	}
	return parseCommit(id, raw)
}

// parseCommit takes a commit object apart. Odd identities and dates are data.
// Of lines that are there twice the first counts, as it does for forges.
func parseCommit(id company.OID, raw []byte) (Commit, error) {
	c := Commit{OID: id, Raw: string(raw)}
	head, msg, _ := strings.Cut(c.Raw, "\n\n")
	seen := map[string]bool{}
	c.Message = msg
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		if seen[key] && key != "parent" {
			continue
		}
		seen[key] = true
		switch key {
		case "tree":
			c.Tree = company.OID(value)
		case "parent":
			c.Parents = append(c.Parents, company.OID(value))
		case "author":
			c.Author, _ = parsePerson(value)
		case "committer":
			c.Committer, c.When = parsePerson(value)
		}
	}
	if !c.Tree.Valid() {
		return Commit{}, company.E(company.EObjects, "the commit "+string(id)+" is malformed")
	}
	return c, nil
}

// parsePerson reads "name <email> seconds zone".
func parsePerson(v string) (Person, time.Time) {
	name, rest, _ := strings.Cut(v, " <")
	email, when, _ := strings.Cut(rest, "> ")
	sec, _, _ := strings.Cut(when, " ")
	n, _ := strconv.ParseInt(sec, 10, 64)
	return Person{Name: name, Email: email}, time.Unix(n, 0).UTC()
}
