package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// maxPackages limits the Debian packages that a project's build files can request.
const maxPackages = 48

// wish is a library or program that a build needs from the system.
type wish struct {
	kind, name string
	required   bool // the build cannot do without it
	packages   []string
	known      bool
}

// wishes collects wishes without duplicates.
type wishes struct {
	all []wish
	own []string // the project's own names, which an installed package must not replace
}

// add adds a wish by its name. It skips names that are not plain and names of the project itself.
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

// bareName returns the name of a library in lower case, without the prefix lib.
func bareName(name string) string { return strings.TrimPrefix(strings.ToLower(name), "lib") }

// addPackage adds a package by its own name.
func (w *wishes) addPackage(name string) {
	w.all = append(w.all, wish{name: name, packages: []string{name}, known: true})
}

// addProgram adds the package of a program if it is known.
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
	// cmakeConfigFile matches the file by which other projects find a project.
	cmakeConfigFile = lazyregexp.New(`^(.+?)(?:-config|Config)\.cmake`)
	cmakeLanguage   = lazyregexp.New(`(?i)\b(?:project|enable_language)\s*\([^)]*\b(Fortran|ASM_NASM)\b`)
)

// listWishes returns the libraries and programs that a CMake project requests.
func (p *cmakeProjectFiles) listWishes() *wishes {
	w := &wishes{own: p.listNames()}
	for _, buildFile := range p.files {
		for _, m := range cmakeFind.FindAllStringSubmatch(buildFile.text, -1) {
			name := p.fillVariables(m[1])
			if known := w.addParts(name, m[2]); !known || libraries()[cmakeName+name] != "" {
				w.add(cmakeName, name, strings.Contains(m[2], "REQUIRED"))
			}
		}
		for _, m := range cmakeModules.FindAllStringSubmatch(buildFile.text, -1) {
			for word := range strings.FieldsSeq(m[1]) {
				if name, _, _ := strings.Cut(strings.Trim(word, `"`), ">"); strings.ToUpper(name) != name ||
					!strings.Contains(" REQUIRED QUIET IMPORTED_TARGET GLOBAL NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH ",
						" "+name+" ") {
					w.add(pkgConfigName, strings.TrimRight(strings.Split(strings.Split(name, "=")[0], "<")[0], " "),
						strings.Contains(m[1], "REQUIRED"))
				}
			}
		}
		for _, m := range cmakeLibrary.FindAllStringSubmatch(buildFile.text, -1) {
			w.add(linkerName, m[1], strings.Contains(m[2], "REQUIRED"))
		}
		for _, m := range cmakeProgram.FindAllStringSubmatch(buildFile.text, -1) {
			w.addProgram(m[1])
		}
		for _, m := range cmakeLanguage.FindAllStringSubmatch(buildFile.text, -1) {
			w.addProgram(map[string]string{"fortran": "gfortran", "asm_nasm": "nasm"}[strings.ToLower(m[1])])
		}
	}
	for _, source := range p.listFetches() {
		if source.known {
			w.all = append(w.all, wish{name: source.name, packages: source.packages, known: true})
		}
	}
	return w
}

// listNames returns the names under which a project can be found.
func (p *cmakeProjectFiles) listNames() (out []string) {
	for _, buildFile := range p.files {
		for _, m := range cmakeProject.FindAllStringSubmatch(buildFile.text, -1) {
			out = append(out, m[1])
		}
		if m := cmakeConfigFile.FindStringSubmatch(path.Base(buildFile.path)); m != nil {
			out = append(out, m[1])
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
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

// mesonNames lists dependencies for which Meson has its own names.
var mesonNames = map[string]string{"gtest": "libgtest-dev", "gmock": "libgmock-dev", "boost": "libboost-dev",
	"python3": "python3-dev", "python": "python3-dev", "curses": "libncurses-dev", "pcap": "libpcap-dev",
	"gl": "libgl-dev", "llvm": "llvm-dev", "openmpi": "libopenmpi-dev"}

// listWishes returns the libraries and programs that a Meson project requests.
func (p *mesonProjectFiles) listWishes() *wishes {
	w := &wishes{}
	for _, f := range p.files {
		for _, m := range mesonName.FindAllStringSubmatch(f.text, -1) {
			w.own = append(w.own, m[1])
		}
	}
	for _, buildFile := range p.files {
		for _, m := range mesonDependency.FindAllStringSubmatch(buildFile.text, -1) {
			switch pkg := mesonNames[strings.ToLower(m[1])]; {
			case pkg != "":
				w.addPackage(pkg)
			case !slices.Contains(inCompiler, m[1]):
				w.add(pkgConfigName, m[1], !mesonOptional.MatchString(m[2]))
			}
		}
		for _, m := range mesonLibrary.FindAllStringSubmatch(buildFile.text, -1) {
			w.add(linkerName, m[1], !mesonOptional.MatchString(m[2]))
		}
		for _, m := range mesonProgram.FindAllStringSubmatch(buildFile.text, -1) {
			w.addProgram(m[1])
		}
		for _, m := range mesonModule.FindAllStringSubmatch(buildFile.text, -1) {
			w.addProgram(
				map[string]string{"gnome": "glib-mkenums", "i18n": "gettext", "python": "python3", "python3": "python3"}[m[1]])
		}
		for _, m := range mesonLanguage.FindAllStringSubmatch(buildFile.text, -1) {
			w.addProgram(map[string]string{"fortran": "gfortran", "nasm": "nasm"}[m[1]])
		}
	}
	return w
}

var (
	autoModules = lazyregexp.New(
		`\bPKG_(?:CHECK_MODULES|CHECK_EXISTS|HAVE_WITH_MODULES|HAVE_DEFINE_WITH_MODULES)(?:_STATIC)?\s*\(\s*(?:\[?[A-Za-z0-9_]+\]?\s*,)?\s*\[?([^\]),]*)`)
	autoName    = lazyregexp.New(`\bAC_INIT\s*\(\s*\[?([A-Za-z0-9_.+-]+)`)
	autoLibrary = lazyregexp.New(`\bAC_CHECK_LIB\s*\(\s*\[?([A-Za-z0-9_+.-]+)`)
	autoSearch  = lazyregexp.New(`\bAC_SEARCH_LIBS\s*\(\s*\[?[A-Za-z0-9_]+\]?\s*,\s*\[?\s*([A-Za-z0-9_+. -]+)`)
	autoProgram = lazyregexp.New(
		`\bA[CM]_(?:CHECK|PATH)_(?:PROGS?|TOOL)\s*\(\s*\[?[A-Za-z0-9_]+\]?\s*,\s*\[?([A-Za-z0-9_ -]+)`)
)

// macroPackages maps macros in configure.ac and names in Makefile.am to packages.
var macroPackages = []struct {
	word     *lazyregexp.Regexp
	packages []string
}{
	{lazyregexp.New(`\bA[CM]_PROG_LEX\b`), []string{"flex"}}, {lazyregexp.New(`\bAC_PROG_YACC\b`), []string{"bison"}},
	{lazyregexp.New(`\bAM_GNU_GETTEXT`), []string{"gettext"}},
	{lazyregexp.New(`\bAX_[A-Z]`), []string{"autoconf-archive"}},
	{lazyregexp.New(`\bGTK_DOC_CHECK\b`), []string{"gtk-doc-tools"}},
	{lazyregexp.New(`\bIT_PROG_INTLTOOL\b`), []string{"intltool"}},
	{lazyregexp.New(`\bGOBJECT_INTROSPECTION_(CHECK|REQUIRE)\b`), []string{"libgirepository1.0-dev"}},
	{lazyregexp.New(`\bAM_PATH_PYTHON\b`), []string{"python3"}},
	{lazyregexp.New(`\bAM_PATH_CHECK\b`), []string{"check"}},
	{lazyregexp.New(`\bAC_PROG_(FC|F77)\b`), []string{"gfortran"}},
	{lazyregexp.New(`(?m)^\w*TEXINFOS\s*\+?=`), []string{"texinfo"}},
	{lazyregexp.New(`\bDEJATOOL\b`), []string{"dejagnu"}},
	{lazyregexp.New(`\bAX_PATH_LIB_PCRE\b`), []string{"libpcre3-dev"}},
	{lazyregexp.New(`\bAC_PATH_X\b|\bAC_PATH_XTRA\b`), []string{"libx11-dev"}},
}

// listWishes returns the libraries and programs that a project with a configure script requests.
func (p *autotoolsFiles) listWishes() *wishes {
	w := &wishes{}
	for _, buildFile := range p.files {
		for _, m := range autoName.FindAllStringSubmatch(buildFile.text, -1) {
			w.own = append(w.own, m[1])
		}
		for _, m := range autoModules.FindAllStringSubmatch(buildFile.text, -1) {
			after := false // a token after a comparison is a version
			for word := range strings.FieldsSeq(m[1]) {
				isComparison := strings.ContainsAny(word, "<>=")
				if !isComparison && !after {
					w.add(pkgConfigName, word, false)
				}
				after = isComparison
			}
		}
		for _, re := range []*lazyregexp.Regexp{autoLibrary, autoSearch} {
			for _, m := range re.FindAllStringSubmatch(buildFile.text, -1) {
				for word := range strings.FieldsSeq(m[1]) {
					w.add(linkerName, word, false)
				}
			}
		}
		for _, m := range autoProgram.FindAllStringSubmatch(buildFile.text, -1) {
			for word := range strings.FieldsSeq(m[1]) {
				w.addProgram(word)
			}
		}
		for _, m := range macroPackages {
			if m.word.MatchString(buildFile.text) {
				for _, pkg := range m.packages {
					w.addPackage(pkg)
				}
			}
		}
	}
	return w
}

// listPackages returns the packages of the wishes, sorted. Required ones take precedence if there are too many. It
// adds notes for packages that are left out.
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
			note("the build needs %s, and no Debian package is known for it: name one with container.setup: [\"apt-get update "+
				"&& apt-get install -y …\"]", ecosystem.PrintablePath(one.name))
		}
		for _, p := range one.packages {
			if p == "" || slices.Contains(out, p) {
				continue
			}
			if i := slices.IndexFunc(out, func(had string) bool { return areRivals(had, p) }); i >= 0 {
				note("the build names libraries of %s and of %s, of which Debian installs one at a time: it is the former", out[i],
					p)
				continue
			}
			if len(out) == maxPackages {
				note("the build asks for more than %d Debian packages; the others are not installed (container.setup can name "+
					"them)", maxPackages)
				slices.Sort(out)
				return out
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
