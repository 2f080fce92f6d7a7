package company

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Attachment is a file that came with an instruction. Its content is a blob.
type Attachment struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // one of AttachmentTypes, found from the content
	Bytes  int    `json:"bytes"`
	Width  int    `json:"width,omitempty"` // of an image, in pixels
	Height int    `json:"height,omitempty"`
	Blob   Hash   `json:"blob"` // SHA-256 of the content
}

// AttachedText is the type of a text.
const AttachedText = "text/plain"

// AttachmentTypes are the types that a file with an instruction may have.
var AttachmentTypes = []string{AttachedText, "image/png", "image/jpeg", "image/gif", "image/webp"}

// IsImage says whether models are shown it as an image.
func (a Attachment) IsImage() bool { return strings.HasPrefix(a.Type, "image/") }

// Describe says what it is, for people and models: "PNG image, 800x600, 33.7 KiB".
func (a Attachment) Describe() string {
	if !a.IsImage() {
		return "text, " + AttachedSize(a.Bytes)
	}
	return fmt.Sprintf("%s image, %dx%d, %s", strings.ToUpper(path.Base(a.Type)), a.Width, a.Height, AttachedSize(a.Bytes))
}

// AttachedSize returns a number of bytes for people. It is rounded up, so that a file beyond
// a bound is never shown with the bound's own size.
func AttachedSize(n int) string {
	unit, name := 1<<10, "KiB"
	switch {
	case n < 1<<10:
		return Count(n, "byte")
	case n >= 1<<20:
		unit, name = 1<<20, "MiB"
	}
	return strconv.FormatFloat(math.Ceil(float64(n)*100/float64(unit))/100, 'f', -1, 64) + " " + name
}

// AttachedFile is an attachment with its content, on its way into an office.
type AttachedFile struct {
	Attachment
	Content []byte `json:"content,omitempty"`
}

// Bounds of the files with an instruction. The images are those of the narrowest vendor:
// Anthropic takes 5 MiB of base64 an image, 8000 pixels a side, and 32 MB a request
// (docs.anthropic.com/en/docs/vision, read 2026-11). All of them go with each request.
const (
	MaxAttachments    = 10
	MaxAttachedText   = 256 << 10
	MaxAttachedImage  = 5 << 20 / 4 * 3
	MaxAttachedPixels = 8000 // of a side
	MaxAttachedBytes  = 16 << 20
	maxAttachedName   = 100
)

// IsAttachmentName reports whether a file with an instruction may have this name. It is
// a file's name in a container, and stands in prompts and in pull requests.
func IsAttachmentName(name string) bool {
	return name != "" && len(name) <= maxAttachedName && utf8.ValidString(name) && name[0] != '.' && name[0] != '-' &&
		strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune("/\\<>\"'`|$*?", c) })
}

// validateAttachments refuses files that an instruction cannot have. What they hold was
// looked at before.
func validateAttachments(files []AttachedFile) error {
	refuse := func(what, why, fix string) error { return E(EInvalid, what).Because(why).Fix(fix) }
	if len(files) > MaxAttachments {
		return refuse("there are "+Count(len(files), "file")+" with the instruction", fmt.Sprintf("at most %d are taken", MaxAttachments), "attach those that the work needs; others belong into the repository")
	}
	total, names := 0, []string{}
	for _, f := range files {
		folded := strings.ToLower(f.Name)
		switch {
		case !IsAttachmentName(f.Name):
			return refuse(fmt.Sprintf("%q is no name of a file with an instruction", cutText(f.Name, maxAttachedName)), "it is empty, too long, or has signs that a file name should not have", "rename the file")
		case slices.Contains(names, folded):
			return refuse(fmt.Sprintf("two files with the instruction are named %s", f.Name), "agents know them by their names", "rename one of them")
		case !slices.Contains(AttachmentTypes, f.Type):
			return refuse(fmt.Sprintf("%s is of the type %q", f.Name, cutText(f.Type, 80)), "files with an instruction are texts, or images", "attach UTF-8 text, PNG, JPEG, GIF or WebP")
		case !f.IsImage() && f.Bytes > MaxAttachedText:
			return refuse(f.Name+" has "+AttachedSize(f.Bytes), "a text may have "+AttachedSize(MaxAttachedText), "attach the part that matters, or put the file into the repository")
		case f.Bytes > MaxAttachedImage:
			return refuse(f.Name+" has "+AttachedSize(f.Bytes), "an image may have "+AttachedSize(MaxAttachedImage)+": models take no larger ones", "make it smaller, or cut out the part that matters")
		case f.IsImage() && !(0 < f.Width && f.Width <= MaxAttachedPixels && 0 < f.Height && f.Height <= MaxAttachedPixels), !f.IsImage() && (f.Width != 0 || f.Height != 0):
			return refuse(fmt.Sprintf("%s has %dx%d pixels", f.Name, f.Width, f.Height), fmt.Sprintf("an image has 1 to %d on each side: models take no larger ones", MaxAttachedPixels), "make it smaller, or cut out the part that matters")
		case f.Bytes <= 0 || !isBlobHash(f.Blob):
			return refuse(f.Name+" has no content", "the file is empty", "leave it out")
		}
		names = append(names, folded)
		total += f.Bytes
	}
	if total > MaxAttachedBytes {
		return refuse("the files with the instruction have "+AttachedSize(total), "together they may have "+AttachedSize(MaxAttachedBytes)+": they go with each request to a model", "make the images smaller, or attach fewer")
	}
	return nil
}

// isBlobHash reports whether a text is the name of a blob.
func isBlobHash(h Hash) bool {
	return len(h) == 64 && strings.Trim(string(h), "0123456789abcdef") == ""
}

// attachmentsOf leaves the contents out.
func attachmentsOf(files []AttachedFile) []Attachment {
	var out []Attachment
	for _, f := range files {
		out = append(out, f.Attachment)
	}
	return out
}
