package office

import (
	"bufio"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
)

var errNotDir = syscall.ENOTDIR

// Office is an office whose folders exist and are its own.
type Office struct {
	Paths
	// ID is four letters that tell this office from a colleague's; branches
	// carry it.
	ID string
	// StateRoot is the state folder: what is opened through it stays in it.
	StateRoot *os.Root
}

// Close closes the state folder.
func (o *Office) Close() error { return o.StateRoot.Close() }

// officeFile is state/office.json.
type officeFile struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
}

var idRE = regexp.MustCompile(`^[a-z2-7]{4}$`)

// Open makes what is missing of an office and opens its state. It may be
// called by several processes at once and changes nothing of an office that
// is complete. In a git checkout it adds the office's folders to
// .git/info/exclude, and touches nothing else.
//
// State that a repository brought along is refused: a folder that is a
// symbolic link, or that git tracks files in (but for a README.md).
func Open(p Paths) (*Office, error) {
	base, dirs := p.dirs()
	if err := refuseForeignState(base, dirs, p); err != nil {
		return nil, err
	}
	fail := func(err error) error {
		return company.E(company.EConfig, "the office's folders cannot be made in "+base).Wrap(err).Fix("see that the folder is yours and has space")
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, fail(err)
	}
	defer root.Close()
	for _, d := range dirs {
		if err := root.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fail(err)
		}
	}
	// Another process may have put links there since the look above.
	if err := refuseForeignState(base, dirs, p); err != nil {
		return nil, err
	}
	for _, d := range []string{p.State, p.Cache, p.Logs} {
		rel, err := filepath.Rel(base, d)
		if err == nil {
			err = root.Chmod(rel, 0o700)
		}
		if err != nil {
			return nil, fail(err)
		}
	}
	if err := exclude(base, p); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(base, p.State)
	if err != nil {
		return nil, fail(err)
	}
	state, err := root.OpenRoot(rel)
	if err != nil {
		return nil, fail(err)
	}
	id, err := identify(state)
	if err != nil {
		_ = state.Close()
		return nil, err
	}
	return &Office{Paths: p, ID: id, StateRoot: state}, nil
}

func refuseForeignState(base string, dirs []string, p Paths) error {
	for _, d := range dirs {
		path := filepath.Join(base, d)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		refused := company.E(company.EConfig, "state of the office is refused: "+path)
		switch {
		case err != nil:
			return refused.Wrap(err).Fix("see that the folder is yours")
		case info.Mode()&fs.ModeSymlink != 0:
			return refused.Because("it is a symbolic link").Fix("remove the link; the office's folders are plain folders")
		case !info.IsDir():
			return refused.Because("it is not a folder").Fix("move it away")
		case !ownedByUs(info):
			return refused.Because("it belongs to another user").Fix("take it over with chown, or use another office")
		}
	}
	if _, err := os.Lstat(filepath.Join(p.home, ".git")); err == nil {
		return company.E(company.EConfig, "state of the office is refused: "+p.home).Because("it is a git repository").Fix("move it away")
	}
	// A repository may have folders called runtime and workflows of its own.
	var own []string
	for _, d := range []string{p.State, p.Cache, p.Logs, p.Runs, p.Backlog} {
		rel, err := filepath.Rel(base, d)
		if err != nil {
			return err
		}
		own = append(own, rel)
	}
	tracked, err := trackedByGit(base, own...)
	if err != nil {
		return err
	}
	for _, rel := range tracked {
		if filepath.Base(rel) != "README.md" {
			return company.E(company.EConfig, "state of the office is refused: "+filepath.Join(base, rel)).
				Because("git tracks it, so it may be somebody else's").Fix("git rm --cached " + rel + ", or use another office with --office")
		}
	}
	return nil
}

// excluded are the lines of .git/info/exclude.
var excluded = []string{hidden + "/", "runtime/", "workflows/backlog/"}

// Exclude hides the folders of the office from the git status of the checkout
// that it is in, as Open does, and makes nothing else.
func Exclude(p Paths) error {
	base, _ := p.dirs()
	return exclude(base, p)
}

// exclude hides the office's folders from the git status of the checkout that
// it is in.
func exclude(base string, p Paths) error {
	if p.Repo == "" {
		return nil
	}
	out, err := git(base, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(out, "\n")
	fail := func(err error) error {
		return company.E(company.EGit, "the office's folders cannot be added to "+path).Wrap(err).Fix("see that the file is yours")
	}
	lines := excluded
	if p.home == p.Root {
		lines = lines[:1] // the others are inside
	}
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	var add strings.Builder
	if len(have) > 0 && have[len(have)-1] != '\n' {
		add.WriteByte('\n')
	}
	before := add.Len()
	present := map[string]bool{}
	for sc := bufio.NewScanner(strings.NewReader(string(have))); sc.Scan(); {
		present[strings.TrimSpace(sc.Text())] = true
	}
	for _, l := range lines {
		if !present[l] {
			add.WriteString(l + "\n")
		}
	}
	if add.Len() == before {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fail(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fail(err)
	}
	_, err = f.WriteString(add.String())
	if err := errors.Join(err, f.Close()); err != nil {
		return fail(err)
	}
	return nil
}

// identify reads the office's id and makes one where there is none. The file
// appears whole or not at all, whoever else makes one at the same time.
func identify(state *os.Root) (string, error) {
	const name = "office.json"
	for range 3 {
		data, err := readPlain(state, name)
		if err == nil {
			var f officeFile
			if err := json.Unmarshal(data, &f); err != nil || f.Version != 1 || !idRE.MatchString(f.ID) {
				return "", company.E(company.EConfig, filepath.Join(state.Name(), name)+" is damaged").Wrap(err).
					Fix("restore it from a backup; branches carry the id in it")
			}
			return f.ID, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", company.E(company.EConfig, filepath.Join(state.Name(), name)+" cannot be read").Wrap(err).Fix("see that it is a plain file of yours")
		}
		var raw [8]byte
		rand.Read(raw[:]) // never fails
		letters := strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))
		data, err = json.Marshal(officeFile{1, letters[:4], time.Now().UTC().Truncate(time.Second)})
		if err != nil {
			return "", err
		}
		tmp := fmt.Sprintf(".office-%d-%s", os.Getpid(), letters[4:])
		err = writeNew(state, tmp, append(data, '\n'))
		if err == nil {
			err = state.Link(tmp, name)
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil // another process was faster; read its id
		}
		if rm := state.Remove(tmp); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		if err != nil {
			return "", company.E(company.EConfig, "the office's id cannot be written in "+state.Name()).Wrap(err).Fix("see that the folder is yours and has space")
		}
	}
	return "", company.E(company.EConfig, "the office's id cannot be made in "+state.Name()).Fix("try again")
}

func writeNew(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// readPlain reads a small file that is no link.
func readPlain(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil, fmt.Errorf("%s is not a small plain file", name)
	}
	return root.ReadFile(name)
}
