package toolserver

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // git's name of an object
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Starting git takes longer than most of the queries of a checkpoint. So data in plain files of the repository is read
// directly, if it has the form that git writes. For any other form git is asked.

// readRef reads a reference from its file or from packed-refs. ok is false if git must be asked.
func (s *Server) readRef(name string) (oid string, ok bool) {
	if !s.hasPlainRefs() {
		return "", false
	}
	text, err := s.root.ReadFile(".git/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		packed, _ := s.root.ReadFile(".git/packed-refs")
		for line := range bytes.Lines(packed) {
			if id, ref, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " "); ref == name && oidRE.MatchString(id) {
				return id, true
			}
		}
		return "", false
	}
	oid = strings.TrimSuffix(string(text), "\n")
	return oid, err == nil && oidRE.MatchString(oid)
}

// hasPlainRefs reports whether references are stored as files, and not in another storage of git.
func (s *Server) hasPlainRefs() bool {
	config, err := s.root.ReadFile(".git/config")
	return err == nil && !bytes.Contains(bytes.ToLower(config), []byte("extensions"))
}

// readHead returns HEAD's commit. ok is false if git must be asked.
func (s *Server) readHead() (oid string, ok bool) {
	text, err := s.root.ReadFile(".git/HEAD")
	if err != nil {
		return "", false
	}
	line := strings.TrimSuffix(string(text), "\n")
	if ref, ok := strings.CutPrefix(line, "ref: "); ok && strings.HasPrefix(ref, "refs/heads/") && filepath.IsLocal(ref) {
		return s.readRef(ref)
	}
	return line, oidRE.MatchString(line)
}

// hasNoRefBeside reports whether there is no local branch, tag or stash other than the given branch. It also returns
// false if git must be asked.
func (s *Server) hasNoRefBeside(branch string) bool {
	if !s.hasPlainRefs() {
		return false
	}
	packed, err := s.root.ReadFile(".git/packed-refs")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for line := range bytes.Lines(packed) {
		if _, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " "); isDescribedRef(name) && name != branch {
			return false
		}
	}
	if _, err := s.root.Lstat(".git/refs/stash"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, dir := range []string{"refs/heads", "refs/tags"} {
		err := fs.WalkDir(s.root.FS(), ".git/"+dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && path != ".git/"+branch && !strings.HasSuffix(path, ".lock") {
				err = fs.ErrExist
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// isDescribedRef reports whether a checkpoint's message includes a reference.
func isDescribedRef(name string) bool {
	return strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") || name == "refs/stash"
}

// Limits of the search for empty folders without git. Beyond them git may be faster, because it skips ignored folders.
const (
	maxFolders = 500
	maxEntries = 20_000
)

// hasNoEmptyFolder reports whether no folder of the workspace is empty, ignored ones included. It also returns false
// if git must be asked.
func (s *Server) hasNoEmptyFolder() bool {
	entries := 0
	dirs := []string{s.dir}
	for walked := 0; walked < len(dirs); walked++ {
		list, err := os.ReadDir(dirs[walked])
		entries += len(list)
		if err != nil || len(list) == 0 || walked == maxFolders || entries > maxEntries {
			return false
		}
		for _, entry := range list {
			if entry.IsDir() && entry.Name() != ".git" {
				dirs = append(dirs, filepath.Join(dirs[walked], entry.Name()))
			}
		}
	}
	return true
}

// readLooseParents reads the parents of a commit that is stored as a loose object, as a new commit is. ok is false if
// git must be asked.
func (s *Server) readLooseParents(oid string) (parents []string, ok bool) {
	file, err := s.root.Open(".git/objects/" + oid[:2] + "/" + oid[2:])
	if err != nil {
		return nil, false
	}
	defer file.Close()
	z, err := zlib.NewReader(file)
	if err != nil {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(z, 1<<20))
	if err != nil {
		return nil, false
	}
	kind, rest, ok := strings.Cut(string(data), "\x00")
	if !ok || !strings.HasPrefix(kind, "commit ") {
		return nil, false
	}
	head, _, _ := strings.Cut(rest, "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		if parent, ok := strings.CutPrefix(line, "parent "); ok && oidRE.MatchString(parent) {
			parents = append(parents, parent)
		}
	}
	return parents, true
}

// plainPerson matches names and addresses that git would not change. Git removes certain characters, most of them at
// the ends.
var plainPerson = regexp.MustCompile(`^[\pL\pN](?:[\pL\pN @+._-]*[\pL\pN])?$`)

// writeCommit writes a commit of a tree, as git commit-tree would. ok is false if git must make it.
func (s *Server) writeCommit(tree string, parents []string, message string) (oid string, ok bool) {
	identity := s.repo.identity.Load()
	if identity == nil || len(tree) != len(noObject) {
		return "", false
	}
	person := map[string]string{}
	for _, kv := range *identity {
		key, value, _ := strings.Cut(kv, "=")
		if person[key] = value; !plainPerson.MatchString(value) {
			return "", false
		}
	}
	now := time.Now()
	when := fmt.Sprintf("%d %s", now.Unix(), now.Format("-0700"))
	var text strings.Builder
	fmt.Fprintf(&text, "tree %s\n", tree)
	for _, p := range parents {
		if len(p) != len(noObject) {
			return "", false
		}
		fmt.Fprintf(&text, "parent %s\n", p)
	}
	for _, role := range []string{"author", "committer"} {
		of := "GIT_" + strings.ToUpper(role) + "_"
		fmt.Fprintf(&text, "%s %s <%s> %s\n", role, person[of+"NAME"], person[of+"EMAIL"], when)
	}
	text.WriteString("\n" + message)
	oid, err := s.writeLooseObject("commit", text.String())
	return oid, err == nil
}

// writeLooseObject stores a loose object atomically.
func (s *Server) writeLooseObject(kind, text string) (oid string, err error) {
	data := fmt.Sprintf("%s %d\x00%s", kind, len(text), text)
	sum := sha1.Sum([]byte(data)) // as above
	oid = hex.EncodeToString(sum[:])
	dir := ".git/objects/" + oid[:2] + "/"
	if _, err := s.root.Stat(dir + oid[2:]); err == nil {
		return oid, nil
	}
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err == nil {
		_, err = z.Write([]byte(data))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return "", err
	}
	if err := s.root.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	temp := dir + "tmp_obj_" + randomName() // git prunes files with such names
	if err := s.root.WriteFile(temp, packed.Bytes(), 0o444); err != nil {
		return "", errors.Join(err, s.root.Remove(temp))
	}
	return oid, s.root.Rename(temp, dir+oid[2:])
}
