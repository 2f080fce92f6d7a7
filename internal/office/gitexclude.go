package office

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"company/internal/company"
	"company/internal/gitindex"
	"company/internal/safetext"
)

// ignoreFiles are names of files that hold patterns which git ignores.
var ignoreFiles = []string{"exclude", "ignore", ".gitignore", "gitignore", ".gitignore_global"}

// maxExclude bounds an exclude file, in bytes.
const maxExclude = 1 << 20

// excludeNote stands above the lines of an office in .git/info/exclude.
const excludeNote = "# The own files of an office of company:"

// ExcludeFromGit hides the folders of the office from the git status of the checkout
// that it is in, as Open does, and makes nothing else. It tells the file, and
// the lines in it that are this office's; none outside of a checkout.
func ExcludeFromGit(ctx context.Context, p Paths) (file string, lines []string, err error) {
	file, err = p.findExcludeFile(ctx)
	if err != nil || file == "" {
		return "", nil, err
	}
	return p.excludeFolders(file)
}

// findExcludeFile finds the exclude file of the checkout; "" outside of one.
func (p Paths) findExcludeFile(ctx context.Context) (string, error) {
	if p.Repo == "" {
		return "", nil
	}
	return gitindex.ExcludeFile(ctx, p.parentDir)
}

// excludeFolders writes the office's folders into an exclude file, where they are
// missing.
func (p Paths) excludeFolders(at string) (file string, lines []string, err error) {
	file = at
	fail := func(err error) (string, []string, error) {
		return "", nil, company.E(company.EGit, "the office's folders cannot be added to "+file).Wrap(err).Fix("see that the file is yours")
	}
	if lines, err = p.ignorePatterns(); err != nil {
		return fail(err)
	}
	mode := fs.FileMode(0o644)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular() || info.Size() > maxExclude:
		return fail(errors.New("it is no regular file of at most 1 MiB"))
	default:
		mode = info.Mode().Perm()
	}
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	want := mergeExcludeLines(string(have), lines)
	if want == string(have) {
		return file, lines, nil
	}
	if file, err = makeExcludeFolder(at); err != nil {
		return "", nil, company.E(company.EGit, "the office's folders cannot be added to "+at).Wrap(err).
			Fix("add these lines to the file yourself, or put a file in the link's place: " + safetext.EscapeLine(strings.Join(lines, " "), 400))
	}
	if err := renameio.WriteFile(file, []byte(want), mode, renameio.WithTempDir(filepath.Dir(file))); err != nil {
		return fail(err)
	}
	return file, lines, nil
}

// makeExcludeFolder makes the folder of an exclude file, and returns where the file really is. A .git
// that came in an archive may have a link there, to any file of the president's. One that leaves the
// git folder is followed to what is a file of such patterns already, by its name: people share them.
func makeExcludeFolder(file string) (real string, err error) {
	top, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(file)))
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if errors.Is(err, fs.ErrNotExist) {
		dir = filepath.Join(top, filepath.Base(filepath.Dir(file)))
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	real = filepath.Join(dir, filepath.Base(file))
	followed, err := filepath.EvalSymlinks(real)
	exists := err == nil
	if exists {
		real = followed
	}
	inside, err := filepath.Rel(top, real)
	if (err != nil || !filepath.IsLocal(inside)) && (!exists || !slices.Contains(ignoreFiles, filepath.Base(real))) {
		return "", errors.New("a link leads from there to " + safetext.EscapeLine(real, 400))
	}
	return real, nil
}

// ignorePatterns are the patterns that name the office's own folders and nothing
// else, anchored at the top of the checkout.
func (p Paths) ignorePatterns() ([]string, error) {
	at, err := filepath.Rel(p.Repo, p.parentDir)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, dir := range append([]string{companyDir}, p.ownFolders()...) {
		if dir != companyDir && strings.HasPrefix(dir, companyDir+"/") {
			continue
		}
		lines = append(lines, "/"+escapePattern(filepath.ToSlash(filepath.Join(at, dir)))+"/")
	}
	return lines, nil
}

// escapePattern is a path as a pattern of gitignore that matches it alone. A line
// break cannot be written there: any one character is allowed in its place.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\n", "?", "\r", "?").Replace(path)
}

// mergeExcludeLines is the text of an exclude file with these lines in it, and without
// those that company wrote before: they stood for any folder of such a name,
// however deep, and hid source files of people.
func mergeExcludeLines(have string, lines []string) string {
	var kept []string
	if have != "" {
		kept = strings.Split(strings.TrimSuffix(have, "\n"), "\n")
	}
	old := func(i int, line string) bool { return i >= 0 && i < len(kept) && kept[i] == line }
	var out []string
	for i, line := range kept {
		switch {
		case line == ".company/", line == "workflows/backlog/":
			continue
		case line == "runtime/" && (old(i-1, ".company/") || old(i+1, "workflows/backlog/")):
			continue // beside the others it was written with them
		}
		out = append(out, line)
	}
	add := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(out, l) })
	if len(add) > 0 && !slices.Contains(out, excludeNote) {
		add = append([]string{excludeNote}, add...)
	}
	out = append(out, add...)
	if slices.Equal(out, kept) {
		return have
	}
	return strings.Join(out, "\n") + "\n"
}
