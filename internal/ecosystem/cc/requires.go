package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// maxPackages bounds the Debian packages of a project's own wishes.
const maxPackages = 48

// wish is something that a build asks the system for.
type wish struct {
	kind, name string
	required   bool // the build says that it cannot do without
	packages   []string
	known      bool
}

// wishes collects them, each once.
type wishes struct {
	all []wish
	own []string // names of the project itself: an installed one would stand for it
}

// add adds a wish by its name.
func (w *wishes) add(kind, name string, required bool) {
	name = strings.Trim(name, `"'[] `)
	if !plainName.MatchString(name) {
		return // a variable, or an expression
	}
	if slices.ContainsFunc(w.own, func(own string) bool { return bareName(own) == bareName(name) }) {
		return
	}
	i := slices.IndexFunc(w.all, func(o wish) bool { return o.kind == kind && o.name == name })
	if i >= 0 {
		w.all[i].required = w.all[i].required || required
		return
	}
	packages, known := packagesOf(kind, name)
	w.all = append(w.all, wish{kind, name, required, packages, known})
}

// bareName is a name of a library without its case and the lib before it.
func bareName(name string) string { return strings.TrimPrefix(strings.ToLower(name), "lib") }

// addPackage adds a package by its own name.
func (w *wishes) addPackage(name string) {
	w.all = append(w.all, wish{name: name, packages: []string{name}, known: true})
}

// addProgram adds the package of a program, where one is known.
func (w *wishes) addProgram(name string) {
	if p := programPackages[strings.Trim(name, `"'[] `)]; p != "" {
		w.addPackage(p)
	}
}

var plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,60}$`)

var (
	cmakeFind    = lazyregexp.New(`(?i)\bfind_package\s*\(\s*([^\s)]+)([^)]*)\)`)
	cmakeModules = lazyregexp.New(`(?i)\bpkg_(?:check_modules|search_module)\s*\(\s*\S+([^)]*)\)`)
	cmakeLibrary = lazyregexp.New(`(?i)\bfind_library\s*\(\s*\S+\s+(?:NAMES\s+)?([^\s)]+)([^)]*)\)`)
	cmakeProgram = lazyregexp.New(`(?i)\bfind_program\s*\(\s*\S+\s+(?:NAMES\s+)?([^\s)]+)`)
	// cmakeConfigFile is the file by which a project is found by others.
	cmakeConfigFile = lazyregexp.New(`^(.+?)(?:-config|Config)\.cmake`)
	cmakeLanguage   = lazyregexp.New(`(?i)\b(?:project|enable_language)\s*\([^)]*\b(Fortran|ASM_NASM)\b`)
)

// listWishes are the libraries and programs that a CMake project asks for.
func (p *cmakeProjectFiles) listWishes() *wishes {
	w := &wishes{own: p.listNames()}
	for _, f := range p.files {
		for _, m := range cmakeFind.FindAllStringSubmatch(f.text, -1) {
			required := strings.Contains(m[2], "REQUIRED")
			w.add(cmakeName, m[1], required)
			if strings.EqualFold(m[1], "Boost") {
				w.addBoost(m[2])
			}
		}
		for _, m := range cmakeModules.FindAllStringSubmatch(f.text, -1) {
			for word := range strings.FieldsSeq(m[1]) {
				if name, _, _ := strings.Cut(strings.Trim(word, `"`), ">"); strings.ToUpper(name) != name || !strings.Contains(" REQUIRED QUIET IMPORTED_TARGET GLOBAL NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH ", " "+name+" ") {
					w.add(pkgConfigName, strings.TrimRight(strings.Split(strings.Split(name, "=")[0], "<")[0], " "), strings.Contains(m[1], "REQUIRED"))
				}
			}
		}
		for _, m := range cmakeLibrary.FindAllStringSubmatch(f.text, -1) {
			w.add(linkerName, m[1], strings.Contains(m[2], "REQUIRED"))
		}
		for _, m := range cmakeProgram.FindAllStringSubmatch(f.text, -1) {
			w.addProgram(m[1])
		}
		for _, m := range cmakeLanguage.FindAllStringSubmatch(f.text, -1) {
			w.addProgram(map[string]string{"fortran": "gfortran", "asm_nasm": "nasm"}[strings.ToLower(m[1])])
		}
	}
	for _, d := range p.listFetches() {
		if d.known {
			w.all = append(w.all, wish{name: d.name, packages: d.packages, known: true})
		}
	}
	return w
}

// listNames are the names under which a project makes itself known.
func (p *cmakeProjectFiles) listNames() (out []string) {
	for _, f := range p.files {
		for _, m := range cmakeProject.FindAllStringSubmatch(f.text, -1) {
			out = append(out, m[1])
		}
		if m := cmakeConfigFile.FindStringSubmatch(path.Base(f.path)); m != nil {
			out = append(out, m[1])
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// addBoost adds the parts of Boost that are compiled.
func (w *wishes) addBoost(args string) {
	for word := range strings.FieldsSeq(args) {
		if word == strings.ToUpper(word) {
			continue
		}
		if p, ok := libraries()[linkerName+"boost_"+word]; ok {
			w.addPackage(p)
		}
		if word == "unit_test_framework" {
			w.addPackage(libraries()[cmakeName+"boost_unit_test_framework"])
		}
	}
}

var (
	mesonDependency = lazyregexp.New(`\bdependency\s*\(\s*'([^']+)'([^)]*)\)`)
	mesonName       = lazyregexp.New(`(?m)^\s*project\s*\(\s*'([^']+)'`)
	mesonLibrary    = lazyregexp.New(`\.find_library\s*\(\s*'([^']+)'([^)]*)\)`)
	mesonProgram    = lazyregexp.New(`\bfind_program\s*\(\s*'([^']+)'`)
	mesonOptional   = lazyregexp.New(`\b(required\s*:\s*(false|get_option|\w+opt)|fallback\s*:)`)
	mesonModule     = lazyregexp.New(`\bimport\s*\(\s*'(gnome|i18n|python3?)'`)
	mesonLanguage   = lazyregexp.New(`'(fortran|nasm)'`)
)

// mesonNames are dependencies that Meson calls by names of its own.
var mesonNames = map[string]string{"gtest": "libgtest-dev", "gmock": "libgmock-dev", "boost": "libboost-dev", "python3": "python3-dev", "python": "python3-dev", "curses": "libncurses-dev", "pcap": "libpcap-dev", "gl": "libgl-dev", "llvm": "llvm-dev", "openmpi": "libopenmpi-dev"}

// listWishes are the libraries and programs that a Meson project asks for.
func (p *mesonProjectFiles) listWishes() *wishes {
	w := &wishes{}
	for _, f := range p.files {
		for _, m := range mesonName.FindAllStringSubmatch(f.text, -1) {
			w.own = append(w.own, m[1])
		}
	}
	for _, f := range p.files {
		for _, m := range mesonDependency.FindAllStringSubmatch(f.text, -1) {
			switch pkg := mesonNames[strings.ToLower(m[1])]; {
			case pkg != "":
				w.addPackage(pkg)
			case !slices.Contains(inCompiler, m[1]):
				w.add(pkgConfigName, m[1], !mesonOptional.MatchString(m[2]))
			}
		}
		for _, m := range mesonLibrary.FindAllStringSubmatch(f.text, -1) {
			w.add(linkerName, m[1], !mesonOptional.MatchString(m[2]))
		}
		for _, m := range mesonProgram.FindAllStringSubmatch(f.text, -1) {
			w.addProgram(m[1])
		}
		for _, m := range mesonModule.FindAllStringSubmatch(f.text, -1) {
			w.addProgram(map[string]string{"gnome": "glib-mkenums", "i18n": "gettext", "python": "python3", "python3": "python3"}[m[1]])
		}
		for _, m := range mesonLanguage.FindAllStringSubmatch(f.text, -1) {
			w.addProgram(map[string]string{"fortran": "gfortran", "nasm": "nasm"}[m[1]])
		}
	}
	return w
}

var (
	autoModules = lazyregexp.New(`\bPKG_(?:CHECK_MODULES|CHECK_EXISTS|HAVE_WITH_MODULES|HAVE_DEFINE_WITH_MODULES)(?:_STATIC)?\s*\(\s*(?:\[?[A-Za-z0-9_]+\]?\s*,)?\s*\[?([^\]),]*)`)
	autoName    = lazyregexp.New(`\bAC_INIT\s*\(\s*\[?([A-Za-z0-9_.+-]+)`)
	autoLibrary = lazyregexp.New(`\bAC_CHECK_LIB\s*\(\s*\[?([A-Za-z0-9_+.-]+)`)
	autoSearch  = lazyregexp.New(`\bAC_SEARCH_LIBS\s*\(\s*\[?[A-Za-z0-9_]+\]?\s*,\s*\[?\s*([A-Za-z0-9_+. -]+)`)
	autoProgram = lazyregexp.New(`\bA[CM]_(?:CHECK|PATH)_(?:PROGS?|TOOL)\s*\(\s*\[?[A-Za-z0-9_]+\]?\s*,\s*\[?([A-Za-z0-9_ -]+)`)
)

// macroPackages are the packages of macros in configure.ac, and of names in
// Makefile.am.
var macroPackages = []struct {
	word     *lazyregexp.Regexp
	packages []string
}{
	{lazyregexp.New(`\bA[CM]_PROG_LEX\b`), []string{"flex"}}, {lazyregexp.New(`\bAC_PROG_YACC\b`), []string{"bison"}},
	{lazyregexp.New(`\bAM_GNU_GETTEXT`), []string{"gettext"}}, {lazyregexp.New(`\bAX_[A-Z]`), []string{"autoconf-archive"}},
	{lazyregexp.New(`\bGTK_DOC_CHECK\b`), []string{"gtk-doc-tools"}}, {lazyregexp.New(`\bIT_PROG_INTLTOOL\b`), []string{"intltool"}},
	{lazyregexp.New(`\bGOBJECT_INTROSPECTION_(CHECK|REQUIRE)\b`), []string{"libgirepository1.0-dev"}}, {lazyregexp.New(`\bAM_PATH_PYTHON\b`), []string{"python3"}},
	{lazyregexp.New(`\bAM_PATH_CHECK\b`), []string{"check"}}, {lazyregexp.New(`\bAC_PROG_(FC|F77)\b`), []string{"gfortran"}},
	{lazyregexp.New(`(?m)^\w*TEXINFOS\s*\+?=`), []string{"texinfo"}}, {lazyregexp.New(`\bDEJATOOL\b`), []string{"dejagnu"}},
	{lazyregexp.New(`\bAX_PATH_LIB_PCRE\b`), []string{"libpcre3-dev"}}, {lazyregexp.New(`\bAC_PATH_X\b|\bAC_PATH_XTRA\b`), []string{"libx11-dev"}},
}

// listWishes are the libraries and programs that a project with a configure script asks for.
func (p *autotoolsFiles) listWishes() *wishes {
	w := &wishes{}
	for _, f := range p.files {
		for _, m := range autoName.FindAllStringSubmatch(f.text, -1) {
			w.own = append(w.own, m[1])
		}
		for _, m := range autoModules.FindAllStringSubmatch(f.text, -1) {
			after := false // a token behind a comparison is a version
			for word := range strings.FieldsSeq(m[1]) {
				isComparison := strings.ContainsAny(word, "<>=")
				if !isComparison && !after {
					w.add(pkgConfigName, word, false)
				}
				after = isComparison
			}
		}
		for _, re := range []*lazyregexp.Regexp{autoLibrary, autoSearch} {
			for _, m := range re.FindAllStringSubmatch(f.text, -1) {
				for word := range strings.FieldsSeq(m[1]) {
					w.add(linkerName, word, false)
				}
			}
		}
		for _, m := range autoProgram.FindAllStringSubmatch(f.text, -1) {
			for word := range strings.FieldsSeq(m[1]) {
				w.addProgram(word)
			}
		}
		for _, m := range macroPackages {
			if m.word.MatchString(f.text) {
				for _, pkg := range m.packages {
					w.addPackage(pkg)
				}
			}
		}
	}
	return w
}

// listPackages are the packages of wishes, those first without which nothing is built,
// sorted; omissions are noted.
func (w *wishes) listPackages(note func(format string, args ...any)) []string {
	slices.SortStableFunc(w.all, func(a, b wish) int {
		switch {
		case a.required && !b.required:
			return -1
		case b.required && !a.required:
			return 1
		}
		return 0
	})
	var out []string
	for _, one := range w.all {
		if !one.known && one.required {
			note("the build needs %s, and no Debian package is known for it: name one with container.setup: [\"apt-get update && apt-get install -y …\"]", ecosystem.PrintablePath(one.name))
		}
		for _, p := range one.packages {
			if p == "" || slices.Contains(out, p) {
				continue
			}
			if i := slices.IndexFunc(out, func(had string) bool { return areRivals(had, p) }); i >= 0 {
				note("the build names libraries of %s and of %s, of which Debian installs one at a time: it is the former", out[i], p)
				continue
			}
			if len(out) == maxPackages {
				note("the build asks for more than %d Debian packages; the others are not installed (container.setup can name them)", maxPackages)
				slices.Sort(out)
				return out
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
