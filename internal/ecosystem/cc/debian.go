package cc

import (
	"slices"
	"strings"
	"sync"
)

// otherPackages are packages of Debian bookworm, other than libraries, that builds and tests call or load. Large
// packages and servers are not included.
var otherPackages = strings.Fields(`
autoconf autoconf-archive automake bats bc bison build-essential bzip2 ccache cmake cppcheck dbus dbus-x11 dc
dejagnu default-libmysqlclient-dev default-mysql-client dos2unix elfutils expect faketime fakeroot file flex
fonts-dejavu-core fonts-liberation freeglut3-dev g++ gawk gcc gdb gettext gfortran ghostscript gperf graphviz
gtk-doc-tools help2man imagemagick intltool iproute2 jq libc6-dev libfreetype6-dev libgl1-mesa-dev
libglu1-mesa-dev libmagickwand-dev libncurses5-dev libncursesw5-dev libpango1.0-dev libpcap-dev libtool
libtool-bin libxml2-utils locales lsof lua5.3 lua5.4 luajit lz4 m4 make mesa-common-dev meson moreutils nasm
ncurses-bin net-tools netcat-openbsd ninja-build openssh-client openssl opencl-headers p7zip-full patch
patchelf perl pkg-config pkgconf poppler-utils postgresql-client procps protobuf-compiler python3-dev qpdf
ragel re2c redis-tools rsync scons shellcheck socat sqlite3 strace swig tcl tcl-dev tesseract-ocr
tesseract-ocr-eng texinfo time tk-dev unzip uuid-runtime valgrind xauth xorg-dev xsltproc xvfb xxd xz-utils
yasm zip zsh zstd
`)

// otherNames maps names from Ubuntu or earlier releases to Debian's names.
var otherNames = map[string]string{
	"libjpeg-turbo8-dev": "libjpeg62-turbo-dev", "libjpeg8-dev": "libjpeg62-turbo-dev",
	"libmysqlclient-dev": "default-libmysqlclient-dev",
	"libpng12-dev":       "libpng-dev", "libreadline6-dev": "libreadline-dev", "mysql-client": "default-mysql-client",
	"netcat": "netcat-openbsd",
}

// libraryPackages returns the set of all packages in libraries.txt.
var libraryPackages = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(librariesText) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" {
			out[name] = true
		}
	}
	return out
})

// needlessPackages are packages that CI installs only for downloads and its own setup. A check has no network and no
// rights to set up anything.
var needlessPackages = strings.Fields(`
apt-transport-https apt-utils ca-certificates curl git gnupg gnupg2 less lsb-release
software-properties-common sudo tree tzdata vim wget
`)

// KnownPackage returns Debian's name of a package that a project installs with apt. The name is empty for a package
// that no check needs. It returns false if the package is not in the lists. An image with a package that Debian lacks
// could not be made at all.
func KnownPackage(name string) (debian string, ok bool) {
	if other, has := otherNames[name]; has {
		return other, true
	}
	if slices.Contains(needlessPackages, name) {
		return "", true
	}
	if libraryPackages()[name] || slices.Contains(otherPackages, name) {
		return name, true
	}
	return "", false
}
