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
	"company/internal/gitops/gitindex"
	"company/internal/lib/safetext"
)

// ignoreFiles are usual names of files with git ignore patterns.
var ignoreFiles = []string{"exclude", "ignore", ".gitignore", "gitignore", ".gitignore_global"}

// maxExclude limits the size of an exclude file, in bytes.
const maxExclude = 1 << 20

// excludeNote is the comment above the lines of an office in .git/info/exclude.
const excludeNote = "# The own files of an office of company:"

// ExcludeFromGit hides the folders of the office from git status in its checkout, as Open does, without creating the
// office. It returns the file and this office's lines in it. Outside of a checkout it returns neither.
func ExcludeFromGit(ctx context.Context, paths Paths) (file string, lines []string, err error) {
	file, err = paths.findExcludeFile(ctx)
	if err != nil || file == "" {
		return "", nil, err
	}
	return paths.excludeFolders(file)
}

// findExcludeFile returns the exclude file of the checkout, or "" outside of one.
func (p Paths) findExcludeFile(ctx context.Context) (string, error) {
	if p.Repo == "" {
		return "", nil
	}
	return gitindex.ExcludeFile(ctx, p.parentDir)
}

// excludeFolders adds the office's folders to an exclude file if they are missing.
func (p Paths) excludeFolders(at string) (file string, lines []string, err error) {
	file = at
	fail := func(err error) (string, []string, error) {
		return "", nil, company.E(company.EGit, "the office's folders cannot be added to "+file).Wrap(err).
			Fix(chooseFix(err, "check that you own the file"))
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
		return fail(errors.New("it is not a regular file of at most 1 MiB"))
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
			Fix("add these lines to the file yourself, or replace the link by a file: " +
				safetext.EscapeLine(strings.Join(lines, " "), 400))
	}
	if err := renameio.WriteFile(file, []byte(want), mode, renameio.WithTempDir(filepath.Dir(file))); err != nil {
		return fail(err)
	}
	return file, lines, nil
}

// makeExcludeFolder creates the folder of an exclude file, and returns the real path of the file. A .git from an
// archive may have a link there to any file of the president. A link out of the git folder is followed only to an
// existing file with a usual name for ignore patterns, because people share such files.
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

// ignorePatterns returns patterns that match only the office's own folders, anchored at the top of the checkout.
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

// escapePattern returns a gitignore pattern that matches only the given path. Line breaks cannot be escaped, so any
// single character matches in their place.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\n", "?", "\r", "?").Replace(path)
}

// mergeExcludeLines returns the text of an exclude file with the given lines added.
func mergeExcludeLines(have string, lines []string) string {
	var out []string
	if have != "" {
		out = strings.Split(strings.TrimSuffix(have, "\n"), "\n")
	}
	add := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(out, l) })
	if len(add) == 0 {
		return have
	}
	if !slices.Contains(out, excludeNote) {
		out = append(out, excludeNote)
	}
	return strings.Join(append(out, add...), "\n") + "\n"
}
