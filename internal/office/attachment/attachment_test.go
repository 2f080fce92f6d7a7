package attachment

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"company/internal/company"
)

func picture(t *testing.T, kind string, width, height int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webP are images of one pixel in the three forms of WebP.
func webP(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, text := range map[string]string{
		"lossy":    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
		"lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
		"alpha":    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
	} {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = data
	}
	return out
}

// bomb is a PNG of a few bytes whose header promises a huge image.
func bomb(width, height uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		body := append([]byte(kind), data...)
		b = append(b, body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	}
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(size, 8, 2, 0, 0, 0))
	chunk("IEND", nil)
	return b
}

func inspectOne(name string, content []byte) (company.Attachment, error) {
	files, err := Inspect(
		[]company.AttachedFile{{Attachment: company.Attachment{Name: name, Type: "image/svg+xml"}, Content: content}})
	if err != nil {
		return company.Attachment{}, err
	}
	return files[0].Attachment, nil
}

// TestTypesByContent: the content tells the type, whatever the name and the sender say.
func TestTypesByContent(t *testing.T) {
	web := webP(t)
	for name, c := range map[string]struct {
		content       []byte
		mime          string
		width, height int
	}{
		"a.txt":  {picture(t, "png", 30, 20), "image/png", 30, 20},
		"b.png":  {picture(t, "jpeg", 30, 20), "image/jpeg", 30, 20},
		"c.jpg":  {picture(t, "gif", 30, 20), "image/gif", 30, 20},
		"d.webp": {web["lossy"], "image/webp", 1, 1},
		"e.webp": {web["lossless"], "image/webp", 1, 1},
		"f.webp": {web["alpha"], "image/webp", 1, 1},
		"g.png":  {[]byte("übermäßig"), "text/plain", 0, 0},
		"h.svg":  {[]byte("<svg/>"), "text/plain", 0, 0},
		"i.png":  {picture(t, "png", 8000, 1), "image/png", 8000, 1},
	} {
		got, err := inspectOne(name, c.content)
		if err != nil || got.Type != c.mime || got.Width != c.width || got.Height != c.height ||
			got.Bytes != len(c.content) || len(got.Blob) != 64 {
			t.Errorf("%s is %+v, %v", name, got, err)
		}
	}
}

// TestRefusedContents: damage, bombs and other types are refused with a reason and a fix.
func TestRefusedContents(t *testing.T) {
	whole := picture(t, "png", 30, 20)
	jpegOf, gifOf, web := picture(t, "jpeg", 30, 20), picture(t, "gif", 30, 20), webP(t)["lossy"]
	for want, content := range map[string][]byte{
		"the file is empty":          {},
		"PNG image and is damaged":   whole[:len(whole)-5],
		"PNG image and is damaged o": whole[:20],
		"JPEG image and is damaged":  jpegOf[:len(jpegOf)-10],
		"GIF image and is damaged":   gifOf[:len(gifOf)-3],
		"WebP image and is damaged":  web[:len(web)-8],
		"WebP image and is damaged ": web[:14],
		"has 60000x60000 pixels":     bomb(60000, 60000),
		"has 8001x2 pixels":          bomb(8001, 2),
		"it is a PDF":                []byte("%PDF-1.7 a text"),
		"is a PDF, and":              []byte("%PDF-1.7\n\x00\xff"),
		"a zip archive":              []byte("PK\x03\x04\x00\xff"),
		"a BMP image":                []byte("BM\xff\x00\xfe"),
		"neither UTF-8":              {0xde, 0xad, 0xbe, 0xef},
		"neither UTF-8 text":         []byte("text with a \x00"),
		"the text has 256.01 KiB":    bytes.Repeat([]byte("a"), company.MaxAttachedText+1),
		"and an image may have":      append(whole[:len(whole):len(whole)], make([]byte, company.MaxAttachedImage)...),
	} {
		_, err := inspectOne("shot.png", content)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EUsage || !strings.Contains(err.Error(), strings.TrimSpace(want)) ||
			!strings.Contains(err.Error(), "shot.png") || e.Hint == "" {
			t.Errorf("%s: refused as %v", want, err)
		}
	}
}

// TestNames: names are files' names that are safe in a container, in Markdown and on a
// terminal, and each is there once.
func TestNames(t *testing.T) {
	var files []company.AttachedFile
	for _, name := range []string{"../../etc/passwd", `C:\Users\a b.md`, "spec.md", "SPEC.md", "spec.md",
		"x\x1b[31m\n\u202e.md", "--rf", ".git", "", "..", strings.Repeat("ä", 300) + ".md", "a.\xff", "`rm $(x)|y`.txt"} {
		files = append(files, company.AttachedFile{Attachment: company.Attachment{Name: name}, Content: []byte("a")})
	}
	got, err := Inspect(files)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, f := range got {
		if !company.IsAttachmentName(f.Name) || seen[strings.ToLower(f.Name)] {
			t.Errorf("%q became %q", files[i].Name, f.Name)
		}
		seen[strings.ToLower(f.Name)] = true
	}
	for i, want := range map[int]string{0: "passwd", 1: "a_b.md", 2: "spec.md", 3: "SPEC-2.md", 4: "spec-3.md", 6: "rf",
		7: "git"} {
		if got[i].Name != want {
			t.Errorf("%q became %q, not %q", files[i].Name, got[i].Name, want)
		}
	}
}

// TestReadFiles: plain files alone are opened, and nothing waits.
func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string][]byte{"spec.md": []byte("blue"), "shot.png": picture(t, "png", 3, 2),
		"huge.bin": make([]byte, company.MaxAttachedImage+1), "secret": []byte("x")} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, err := range []error{os.Symlink(in("spec.md"), in("link.md")), os.Symlink("/dev/zero", in("zero")),
		unix.Mkfifo(in("fifo"), 0o600), os.Mkdir(in("folder"), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadFiles([]string{in("spec.md"), in("shot.png")})
	if err != nil || len(got) != 2 || got[0].Name != "spec.md" || string(got[0].Content) != "blue" || got[1].Width != 3 {
		t.Errorf("read %+v, %v", got, err)
	}
	for name, want := range map[string]string{
		"missing": "no such file", "link.md": "symbolic link", "zero": "symbolic link", "fifo": "not a plain file",
		"folder": "a folder", "socket": "not a plain file", "huge.bin": "no file may have more",
	} {
		_, err := ReadFiles([]string{in(name)})
		if company.CodeOf(err) != company.EUsage || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), in(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFiles([]string{"/dev/null"}); company.CodeOf(err) != company.EUsage {
		t.Errorf("a device: %v", err)
	}
	if _, err := ReadFiles(make([]string, company.MaxAttachments+1)); company.CodeOf(err) != company.EUsage ||
		!strings.Contains(err.Error(), "at most 10") {
		t.Errorf("eleven files: %v", err)
	}
}

// Agents read UTF-8. A text in UTF-16, as PowerShell and Notepad write it, is attached as UTF-8.
func TestTextsInUTF16AreAttachedAsUTF8(t *testing.T) {
	for stored, want := range map[string]string{"\xff\xfea\x00\xe9\x00": "aé", "\xfe\xff\x00a\x00\xe9": "aé",
		"a\xe9": "", "\xff\xfea\x00\x00": ""} {
		files := []company.AttachedFile{{Attachment: company.Attachment{Name: "spec.txt"}, Content: []byte(stored)}}
		got, err := Inspect(files)
		switch {
		case want == "" && company.CodeOf(err) != company.EUsage:
			t.Errorf("%q is attached: %v", stored, err)
		case want != "" && (err != nil || string(got[0].Content) != want || got[0].Bytes != len(want) ||
			got[0].Type != company.AttachedText):
			t.Errorf("%q is %+v: %v", stored, got, err)
		}
		if want != "" && err == nil { // as the office checks it again
			if again, err := Inspect(got); err != nil || again[0].Blob != got[0].Blob {
				t.Errorf("%q: %+v: %v", stored, again, err)
			}
		}
	}
}
