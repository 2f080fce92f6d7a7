package attachment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// kind is an image format: how to recognize it, read its size, and check that it is complete.
type kind struct {
	mime, name string
	is         func(content []byte) bool
	size       func(content []byte) (image.Config, error)
	whole      func(content []byte) bool
}

var kinds = []kind{
	{"image/png", "PNG", beginsWith("\x89PNG\r\n\x1a\n"),
		func(c []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(c)) }, isPNGWhole},
	{"image/jpeg", "JPEG", beginsWith("\xff\xd8\xff"),
		func(c []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(c)) }, func(c []byte) bool {
			// the end marker follows the last scan
			return bytes.LastIndex(c, []byte("\xff\xd9")) > bytes.LastIndex(c, []byte("\xff\xda"))
		}},
	{"image/gif", "GIF", beginsWith("GIF8"),
		func(c []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(c)) }, func(c []byte) bool {
			return bytes.HasSuffix(bytes.TrimRight(c, "\x00"), []byte(";"))
		}},
	{"image/webp", "WebP", func(c []byte) bool {
		return len(c) >= 12 && string(c[:4]) == "RIFF" && string(c[8:12]) == "WEBP"
	}, readWebP, func(c []byte) bool {
		return uint64(binary.LittleEndian.Uint32(c[4:]))+8 <= uint64(len(c))
	}},
}

func beginsWith(magic string) func([]byte) bool {
	return func(content []byte) bool { return bytes.HasPrefix(content, []byte(magic)) }
}

// others are formats that people attach but that are not accepted, with their first bytes.
var others = []struct{ magic, name string }{
	{"%PDF-", "a PDF"}, {"PK\x03\x04", "a zip archive, or a document that is one"}, {"\x1f\x8b", "a gzip archive"},
	{"BM", "a BMP image"}, {"II*\x00", "a TIFF image"}, {"MM\x00*", "a TIFF image"},
	{"\x00\x00\x00", "a video, or an image such as HEIC or AVIF"},
}

// findType detects the type of a content. The error gives the reason for people.
func findType(content []byte) (mime string, width, height int, err error) {
	for _, kind := range kinds {
		if !kind.is(content) {
			continue
		}
		c, err := kind.size(content)
		switch {
		case err != nil, !kind.whole(content):
			return "", 0, 0, fmt.Errorf("it begins as a %s image and is damaged or cut off", kind.name)
		case c.Width < 1 || c.Height < 1 || c.Width > company.MaxAttachedPixels || c.Height > company.MaxAttachedPixels:
			return "", 0, 0, fmt.Errorf("the image has %dx%d pixels, and models take at most %d on each side", c.Width, c.Height,
				company.MaxAttachedPixels)
		case len(content) > company.MaxAttachedImage:
			return "", 0, 0, fmt.Errorf("it has %s, and an image may have %s", company.AttachedSize(len(content)),
				company.AttachedSize(company.MaxAttachedImage))
		}
		return kind.mime, c.Width, c.Height, nil
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		for _, o := range others {
			if bytes.HasPrefix(content, []byte(o.magic)) {
				return "", 0, 0, fmt.Errorf("it is %s, and files with an instruction are texts or images", o.name)
			}
		}
		return "", 0, 0, errors.New("it is neither UTF-8 text nor a PNG, JPEG, GIF or WebP image")
	}
	if strings.HasPrefix(string(content), "%PDF-") {
		return "", 0, 0, errors.New("it is a PDF, and files with an instruction are texts or images")
	}
	if len(content) > company.MaxAttachedText {
		return "", 0, 0, fmt.Errorf("the text has %s, and may have %s", company.AttachedSize(len(content)),
			company.AttachedSize(company.MaxAttachedText))
	}
	return company.AttachedText, 0, 0, nil
}

// isPNGWhole reports whether the chunks of a PNG are complete up to its last one.
func isPNGWhole(content []byte) bool {
	for at := uint64(8); at+12 <= uint64(len(content)); {
		size := uint64(binary.BigEndian.Uint32(content[at:]))
		if at+12+size > uint64(len(content)) {
			return false
		}
		if string(content[at+4:at+8]) == "IEND" {
			return true
		}
		at += 12 + size
	}
	return false
}

// readWebP reads the size of a WebP image from its first chunk, which is one of three (RFC 9649).
func readWebP(c []byte) (image.Config, error) {
	if len(c) < 30 {
		return image.Config{}, errors.New("the header is cut off")
	}
	switch string(c[12:16]) {
	case "VP8 ":
		if string(c[23:26]) != "\x9d\x01\x2a" {
			return image.Config{}, errors.New("the frame has no start code")
		}
		return image.Config{Width: int(binary.LittleEndian.Uint16(c[26:]) & 0x3fff),
			Height: int(binary.LittleEndian.Uint16(c[28:]) & 0x3fff)}, nil
	case "VP8L":
		if c[20] != 0x2f {
			return image.Config{}, errors.New("the frame has no signature")
		}
		bits := binary.LittleEndian.Uint32(c[21:])
		return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, nil
	case "VP8X":
		return image.Config{Width: int(uint32(c[24])|uint32(c[25])<<8|uint32(c[26])<<16) + 1,
			Height: int(uint32(c[27])|uint32(c[28])<<8|uint32(c[29])<<16) + 1}, nil
	}
	return image.Config{}, errors.New("there is no such chunk")
}
