// Package attachment reads the files that come with an instruction. It detects their type from the content: a text or
// one of four kinds of image. It also chooses the names that agents see. Only plain files are opened, so reading never
// blocks or follows a link. It reads no more than the size limit. It never decodes an image, but takes its size from
// the header. It does not depend on the agents that get the files.
package attachment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"company/internal/company"
	"company/internal/lib/charset"
	"company/internal/lib/safetext"
)

// fixType is the hint for a file of another type.
const fixType = "attach UTF-8 text, PNG, JPEG, GIF or WebP; another file belongs into the repository"

// ReadFiles reads files by their paths, and gives each a unique name.
func ReadFiles(paths []string) ([]company.AttachedFile, error) {
	if len(paths) > company.MaxAttachments {
		return nil, company.E(company.EUsage, fmt.Sprintf("--attach names %s", company.Count(len(paths), "file"))).
			Because(fmt.Sprintf("an instruction takes at most %d", company.MaxAttachments)).
			Fix("attach only what the work needs; put the rest into the repository")
	}
	var out []company.AttachedFile
	for _, path := range paths {
		content, err := readFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, company.AttachedFile{Attachment: company.Attachment{Name: filepath.Base(path)}, Content: content})
	}
	return Inspect(out)
}

// Inspect detects the type of files from their contents, and names them. It ignores the other fields of its input. The
// error is EUsage if a file is not accepted.
func Inspect(files []company.AttachedFile) ([]company.AttachedFile, error) {
	var out []company.AttachedFile
	taken := map[string]bool{}
	for _, attachedFile := range files {
		shown := safetext.EscapeLine(attachedFile.Name, 200)
		if len(attachedFile.Content) == 0 {
			return nil, company.E(company.EUsage, shown+" is not attached").Because("the file is empty").Fix("leave it out")
		}
		if !utf8.Valid(attachedFile.Content) {
			attachedFile.Content = []byte(charset.DecodeUnicode(attachedFile.Content)) // agents read UTF-8
		}
		sum := sha256.Sum256(attachedFile.Content)
		attachment := company.Attachment{Name: chooseName(attachedFile.Name, taken), Bytes: len(attachedFile.Content),
			Blob: company.Hash(hex.EncodeToString(sum[:]))}
		var err error
		if attachment.Type, attachment.Width, attachment.Height, err = findType(attachedFile.Content); err != nil {
			return nil, company.E(company.EUsage, shown+" is not attached").Because(err.Error()).Fix(fixType)
		}
		out = append(out, company.AttachedFile{Attachment: attachment, Content: attachedFile.Content})
	}
	return out, nil
}

// readFile reads a plain file up to the size limit of an image.
func readFile(path string) ([]byte, error) {
	shown := safetext.EscapeLine(path, 300)
	refuse := func(reason, fix string) error {
		return company.E(company.EUsage, shown+" is not attached").Because(reason).Fix(fix)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse("there is no such file", "name a file that exists")
	case err != nil:
		return nil, company.E(company.EUsage, shown+" is not attached").Wrap(err).Fix("name a file that you may read")
	case info.IsDir():
		return nil, refuse("it is a folder", "name files, each with --attach of its own")
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, refuse("it is a symbolic link, which may lead to another file than it seems",
			"name the file that it points to")
	case !info.Mode().IsRegular():
		return nil, refuse("it is not a plain file but a device, a pipe or a socket",
			"write the content into a file and name that")
	}
	// The file may have been replaced since: do not follow a link or block on a pipe.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, company.E(company.EUsage, shown+" is not attached").Wrap(err).Fix("name a file that you may read")
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, refuse("it is not a plain file any more", "attach it again")
	}
	content, err := io.ReadAll(io.LimitReader(file, company.MaxAttachedImage+1))
	if err != nil {
		return nil, company.E(company.EUsage, shown+" is not attached").Wrap(err).Fix("name a file that can be read")
	}
	if len(content) > company.MaxAttachedImage {
		return nil,
			refuse(fmt.Sprintf("it has %s, and no file may have more than %s",
				company.AttachedSize(int(max(info.Size(), int64(len(content))))), company.AttachedSize(company.MaxAttachedImage)),
				"attach the part that matters, or put the file into the repository")
	}
	return content, nil
}

// chooseName turns the name of a file into one that agents can use and that is not in taken. It adds the name to
// taken, in lower case.
func chooseName(name string, taken map[string]bool) string {
	name = strings.ToValidUTF8(name, "_")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), strings.ContainsRune("._-+=@,()", c):
			return c
		case unicode.IsMark(c): // a combining accent
			return -1
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, ".-")
	ext := filepath.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	for len(stem) > 60 { // with a number and the extension the name stays short
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	if stem == "" {
		stem = "file"
	}
	name = stem + ext
	for n := 2; taken[strings.ToLower(name)] || !company.IsAttachmentName(name); n++ {
		if !company.IsAttachmentName(name) && n > company.MaxAttachments+2 {
			stem, ext = "file", ""
		}
		name = stem + "-" + strconv.Itoa(n) + ext
	}
	taken[strings.ToLower(name)] = true
	return name
}
