package cc

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed libraries.txt
var librariesText string

// The kinds of names by which builds request libraries.
const (
	pkgConfigName = "p:"
	cmakeName     = "c:"
	linkerName    = "l:"
)

// libraries returns the packages in libraries.txt by kind and name. CMake's names are also listed in lower case.
var libraries = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(librariesText) {
		pkg, names, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(pkg, "#") {
			continue
		}
		for group := range strings.FieldsSeq(names) {
			for name := range strings.SplitSeq(group[2:], ",") {
				out[group[:2]+name] = pkg
				if low := group[:2] + strings.ToLower(name); group[:2] == cmakeName && out[low] == "" {
					out[low] = pkg
				}
			}
		}
	}
	return out
})

// inCompiler lists libraries that come with every compiler or that no Linux has. They need no package.
var inCompiler = []string{"m", "c", "dl", "rt", "pthread", "util", "resolv", "nsl", "socket", "anl", "stdc++", "gcc",
	"gcc_s", "gomp", "stdc++fs", "atomic", "threads", "openmp", "iconv", "intl", "backtrace", "ws2_32", "wsock32",
	"kernel32", "user32", "advapi32", "bcrypt", "shlwapi", "winmm", "log"}

// builtinModules lists the packages for CMake's own modules whose names differ from Debian's.
var builtinModules = map[string][]string{
	"bison": {"bison"}, "flex": {"flex"}, "perl": {"perl"}, "perllibs": {"libperl-dev"}, "gettext": {"gettext"},
	"swig":   {"swig"},
	"python": {"python3-dev"}, "python3": {"python3-dev"}, "pythoninterp": {"python3"}, "pythonlibs": {"python3-dev"},
	"bzip2": {"libbz2-dev"}, "curses": {"libncurses-dev"}, "freetype": {"libfreetype-dev"},
	"gtest": {"libgmock-dev", "libgtest-dev"}, "gmock": {"libgmock-dev", "libgtest-dev"},
	"jpeg": {"libjpeg-dev"}, "png": {"libpng-dev"}, "tiff": {"libtiff-dev"}, "gif": {"libgif-dev"},
	"lua": {"liblua5.4-dev"}, "tcl": {"tcl-dev"},
	"mpi": {"libopenmpi-dev"}, "blas": {"libblas-dev"}, "lapack": {"liblapack-dev"},
	"opengl": {"libgl-dev", "libglu1-mesa-dev"}, "glut": {"freeglut3-dev"},
	"x11": {"libx11-dev"}, "alsa": {"libasound2-dev"}, "icu": {"libicu-dev"}, "postgresql": {"libpq-dev"},
	"protobuf": {"libprotobuf-dev", "protobuf-compiler"},
	"readline": {"libreadline-dev"}, "editline": {"libedit-dev"}, "libedit": {"libedit-dev"}, "sdl": {"libsdl1.2-dev"},
	"hdf5": {"libhdf5-dev"}, "pcap": {"libpcap-dev"}, "pcre": {"libpcre3-dev"}, "pcre2": {"libpcre2-dev"},
	"uuid": {"uuid-dev"}, "libuuid": {"uuid-dev"}, "ncurses": {"libncurses-dev"}, "magic": {"libmagic-dev"},
	"libmagic": {"libmagic-dev"}, "gmp": {"libgmp-dev"}, "mpfr": {"libmpfr-dev"}, "cunit": {"libcunit1-dev"},
}

// noLibraries lists arguments of find_package that a build can do without or that are already installed.
var noLibraries = []string{"threads", "pkgconfig", "git", "doxygen", "openmp", "iconv", "intl", "backtrace", "java",
	"jni", "cuda", "cudatoolkit", "latex", "unixcommands", "valgrind", "clangtools", "clangformat", "sphinx", "ccache",
	"codecoverage", "packagehandlestandardargs", "hg", "subversion", "wget"}

// programPackages maps programs that builds look for to packages.
var programPackages = map[string]string{
	"flex": "flex", "lex": "flex", "bison": "bison", "yacc": "bison", "gettext": "gettext", "msgfmt": "gettext",
	"xgettext": "gettext", "perl": "perl", "python3": "python3", "python": "python3",
	"gperf": "gperf", "nasm": "nasm", "yasm": "yasm", "re2c": "re2c", "ragel": "ragel", "swig": "swig", "xxd": "xxd",
	"bc": "bc", "m4": "m4", "help2man": "help2man", "makeinfo": "texinfo",
	"protoc": "protobuf-compiler", "glib-mkenums": "libglib2.0-dev-bin", "glib-genmarshal": "libglib2.0-dev-bin",
	"glib-compile-resources": "libglib2.0-dev-bin", "gdbus-codegen": "libglib2.0-dev-bin",
	"runtest": "dejagnu", "expect": "expect", "tclsh": "tcl", "xsltproc": "xsltproc", "intltool-update": "intltool",
	"gfortran": "gfortran", "wayland-scanner": "libwayland-bin", "file": "file",
}

// packagesOf returns the packages for a name that a build requests. It returns false if the name is unknown.
func packagesOf(kind, name string) (packages []string, ok bool) {
	low := strings.ToLower(name)
	if kind == cmakeName {
		if slices.Contains(noLibraries, low) {
			return nil, true
		}
		if p := builtinModules[low]; p != nil {
			return p, true
		}
	}
	if kind == linkerName && slices.Contains(inCompiler, low) {
		return nil, true
	}
	tries := []string{kind + name, pkgConfigName + name, pkgConfigName + "lib" + name}
	if kind != pkgConfigName { // pkg-config names are exact
		bare := strings.TrimPrefix(low, "lib")
		tries = append(tries, cmakeName+low, pkgConfigName+low, pkgConfigName+"lib"+bare, pkgConfigName+bare, linkerName+bare)
	}
	for _, t := range tries {
		if p := libraries()[t]; p != "" {
			return []string{p}, true
		}
	}
	return nil, false
}

// rivals are pairs of packages that Debian cannot install together. They come from libraries.txt or replace packages
// of other registries. A build often names both and uses the one that it finds.
var rivals = [][2]string{
	{"heimdal-dev", "libkrb5-dev"}, {"ivtools-dev", "libinterviews-dev"}, {"libagg-dev", "libagg2-dev"},
	{"libcurl4-gnutls-dev", "libcurl4-nss-dev"}, {"libcurl4-gnutls-dev", "libcurl4-openssl-dev"},
	{"libcurl4-nss-dev", "libcurl4-openssl-dev"}, {"libcurl4-nss-dev", "libcurlpp-dev"}, {"libesnacc-dev", "libsnacc-dev"},
	{"libfltk1.1-dev", "libfltk1.3-dev"}, {"libfxt-dev", "liblitl-dev"},
	{"libglew-dev", "libglewmx-dev"}, {"libgrpc-dev", "libupb-dev"}, {"libiodbc2-dev", "unixodbc-dev"},
	{"libjack-dev", "libjack-jackd2-dev"}, {"libjwt-dev", "libjwt-gnutls-dev"},
	{"libmodplug-dev", "libopenmpt-modplug-dev"}, {"libneon27-dev", "libneon27-gnutls-dev"},
	{"libocct-data-exchange-dev", "liboce-modeling-dev"}, {"libocct-data-exchange-dev", "liboce-ocaf-dev"},
	{"libocct-data-exchange-dev", "liboce-ocaf-lite-dev"}, {"libocct-data-exchange-dev", "liboce-visualization-dev"},
	{"libocct-foundation-dev", "liboce-foundation-dev"}, {"libocct-ocaf-dev", "liboce-ocaf-dev"},
	{"libocct-ocaf-dev", "liboce-ocaf-lite-dev"}, {"libocct-visualization-dev", "liboce-visualization-dev"},
	{"libsdl1.2-compat-dev", "libsdl1.2-dev"}, {"libsrt-gnutls-dev", "libsrt-openssl-dev"},
	{"libzookeeper-mt-dev", "libzookeeper-st-dev"},
	{"freedombox", "ufw"}, {"glue-sprite", "python3-glue"}, {"mkdocstrings-python-handlers", "mkdocstrings-python-legacy"},
	{"python3-consul", "python3-consul2"}, {"python3-django-memoize", "python3-memoize"},
	{"python3-paraview", "python3-vtk9"}, {"python3-extractor", "python3-ufo-extractor"},
	{"python3-prettytable", "python3-ptable"}, {"python3-pyxattr", "python3-xattr"},
	{"python3-zipstream", "python3-zipstream-ng"},
}

func areRivals(a, b string) bool {
	return slices.ContainsFunc(rivals, func(r [2]string) bool { return r == [2]string{a, b} || r == [2]string{b, a} })
}
