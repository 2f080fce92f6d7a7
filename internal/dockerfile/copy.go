package dockerfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/glob"
	"company/internal/lazyregexp"
	"company/internal/safetext"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// File is a file of the commit: its name, its mode and its object id.
type File struct {
	Path string
	Mode string // of git: 100644, 100755, 120000
	ID   string
}

// Copy puts files into the image.
type Copy struct {
	Files  []CopiedFile // sorted by their place; none: an empty folder is made
	To     string       // absolute
	Folder bool         // the files come below To; otherwise To is the one file's name, or a folder that is there
	Owner  string       // user[:group]; empty: root
	Mode   string       // as chmod takes it; empty: the files' own
}

// CopiedFile is one file of a Copy.
type CopiedFile struct {
	Place string // below the folder, or the name of the one file
	Mode  string // as in File
	ID    string // of the commit's object; empty: Text
	Text  string // of a here-document
}

// fileSet are the files that COPY sees, by their paths below its context.
type fileSet struct {
	files   []File
	leftOut bool // a list of files to leave out left some
}

// Limits of the patterns that say which files are copied.
const (
	maxIgnoreRules = 10_000
	copySteps      = 1 << 30 // of the comparison of all files with all patterns
)

// selectFiles keeps the files below a folder that a .dockerignore does not name.
func selectFiles(all []File, context string, ignore []byte, budget *int) (out fileSet, err error) {
	rules, err := readIgnore(ignore)
	if err != nil {
		return out, err
	}
	for _, f := range all {
		if context != "" {
			below, ok := strings.CutPrefix(f.Path, context+"/")
			if !ok {
				continue
			}
			f.Path = below
		}
		if rules.leavesOut(f.Path, budget) {
			out.leftOut = true
			continue
		}
		out.files = append(out.files, f)
	}
	slices.SortFunc(out.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, checkBudget(*budget)
}

// checkBudget refuses patterns that could not be compared with all files.
func checkBudget(budget int) error {
	if budget >= 0 {
		return nil
	}
	return company.E(company.EImage, "the patterns of .dockerignore and COPY are too many or too complex for this repository").
		Because("comparing them with all files would take too long").Fix("name folders instead of patterns with many wildcards").NeedsPerson()
}

// ignoreRules are the lines of a .dockerignore.
type ignoreRules []ignoreRule

type ignoreRule struct {
	pattern glob.Glob
	keep    bool // an exception
}

func readIgnore(text []byte) (rules ignoreRules, err error) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, keep := strings.CutPrefix(line, "!")
		pattern := strings.TrimPrefix(path.Clean("/"+strings.TrimSpace(rest)), "/")
		if pattern == "" {
			continue
		}
		parsed, err := glob.ParsePattern(pattern, glob.Ignore)
		if err != nil || len(rules) == maxIgnoreRules {
			if err == nil {
				err = fmt.Errorf("%d lines are allowed", maxIgnoreRules)
			}
			return nil, company.E(company.EImage, fmt.Sprintf("cannot read line %d of .dockerignore or of the paths to exclude", n)).
				Because(safetext.EscapeLine(err.Error(), 300)).Fix("mend the pattern, and commit the file").NeedsPerson()
		}
		rules = append(rules, ignoreRule{parsed, keep})
	}
	return rules, nil
}

// leavesOut tells whether the last rule that matches a file, or a folder above it,
// leaves it out.
func (r ignoreRules) leavesOut(file string, budget *int) (out bool) {
	for _, rule := range r {
		for p := file; p != "."; p = path.Dir(p) {
			if rule.pattern.MatchWithin(p, budget) {
				out = !rule.keep
				break
			}
		}
	}
	return out
}

var (
	ownerRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	modeRE  = lazyregexp.New(`^([0-7]{3,4}|[ugoa]*[-+=][rwxX]*(,[ugoa]*[-+=][rwxX]*)*)$`)
)

// placeFiles adds a step that copies files of the commit.
func (t *translation) placeFiles(from instructions.SourcesAndDest, c Copy, exclude []string, line int, text string) error {
	if c.Owner != "" && !ownerRE.MatchString(c.Owner) || c.Mode != "" && !modeRE.MatchString(c.Mode) {
		return t.refuse(line, "--chown or --chmod cannot be read").Fix("write --chown=user:group and --chmod=755")
	}
	c.To = path.Join("/", joinDir(t.dir, from.DestPath))
	c.Folder = strings.HasSuffix(from.DestPath, "/") || from.DestPath == "." || strings.HasSuffix(from.DestPath, "/.") || len(from.SourcePaths)+len(from.SourceContents) > 1
	without, err := readIgnore([]byte(strings.Join(exclude, "\n")))
	if err != nil {
		return err
	}
	for _, doc := range from.SourceContents {
		c.Files = append(c.Files, CopiedFile{Place: doc.Path, Mode: "100644", Text: doc.Data})
	}
	for _, src := range from.SourcePaths {
		found, folder := t.files.match(src, &t.copyBudget)
		if len(found) == 0 {
			return t.missingSource(src, line)
		}
		c.Folder = c.Folder || folder || len(found) > 1
		for _, f := range found {
			if !without.leavesOut(f.at.Path, &t.copyBudget) {
				c.Files = append(c.Files, CopiedFile{Place: f.place, Mode: f.at.Mode, ID: f.at.ID})
			}
		}
		if path.Clean("/"+src) == "/" {
			t.addNote("%s:%d: the whole repository is copied, so every commit has the image made anew: name what the steps need", safetext.EscapeLine(t.Path, 100), line)
		}
	}
	if err := checkBudget(t.copyBudget); err != nil {
		return err
	}
	for _, f := range c.Files {
		if !fs.ValidPath(f.Place) {
			return t.refuse(line, fmt.Sprintf("%q is no name of a file", f.Place)).Fix("name files without .. and without an empty part")
		}
	}
	slices.SortStableFunc(c.Files, func(a, b CopiedFile) int { return strings.Compare(a.Place, b.Place) })
	t.noteUnseen(line, "what is copied", c.To)
	t.recipe.Steps = append(t.recipe.Steps, t.newStep(line, text, Step{Copy: &c}))
	return nil
}

func (t *translation) missingSource(src string, line int) error {
	where := "the repository"
	if t.context != "" {
		where = safetext.EscapeLine(t.context, 100) + " of the repository"
	}
	e := t.refuse(line, fmt.Sprintf("%s has no file %s", where, src)).Because("only files of the commit that a task starts from are copied")
	if t.files.leftOut {
		e = e.Because("only files of the commit are copied, and of those none that .dockerignore names")
	}
	return e.Fix("commit the file, or make it with RUN")
}

// foundFile is a file that a source names, and its place below the destination.
type foundFile struct {
	at    File
	place string
}

// match gives the files that a source names: a file, a folder whose content counts, or
// a pattern of such. folder: the files belong into a folder.
func (s fileSet) match(src string, budget *int) (found []foundFile, folder bool) {
	src = strings.TrimPrefix(path.Clean("/"+src), "/")
	if src == "" {
		for _, f := range s.files {
			found = append(found, foundFile{f, f.Path})
		}
		return found, true
	}
	depth := strings.Count(src, "/") + 1
	pattern, _ := glob.ParsePattern(src, glob.Plain) // one that cannot be read matches no file
	for _, f := range s.files {
		top := f.Path
		if parts := strings.SplitN(f.Path, "/", depth+1); len(parts) > depth {
			top = strings.Join(parts[:depth], "/")
		}
		if top != src && !pattern.MatchWithin(top, budget) {
			continue
		}
		if top == f.Path {
			found = append(found, foundFile{f, path.Base(f.Path)})
			continue
		}
		folder = true
		found = append(found, foundFile{f, strings.TrimPrefix(f.Path, top+"/")})
	}
	return found, folder
}
