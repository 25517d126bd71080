package openai

import "strings"

// A leftOut is a part of a request that no engine reads, with the text in its place.
type leftOut struct{ name, kind string }

// StandIn returns the text in place of a part that no engine reads, of any dialect: of a
// tool, or of an earlier turn. Refusing it would end the conversation, as each later turn
// repeats it. It knows all kinds of parts with images, sound, films and files.
func StandIn(kind string) (text string, ok bool) {
	what := "a document"
	switch kind {
	case "image", "image_url", "input_image", "computer_screenshot":
		what = "an image"
	case "audio", "audio_url", "input_audio":
		what = "a recording"
	case "video", "video_url", "input_video":
		what = "a video"
	case "file", "file_url", "input_file":
		what = "a file"
	case "document", "document_url":
	default:
		return "", false
	}
	return "[" + what + " was left out here: this model reads only text]", true
}

// LeftOutName returns the name under which clients are told that a part of a kind was left
// out: the kind, or else the field that it is in, as headers have no place for any text.
func LeftOutName(kind, field string) string {
	if !IsParameter(kind) {
		return field
	}
	return kind
}

// IsParameter reports whether a text may stand in a header as the name of a parameter, or as
// the kind of a part.
func IsParameter(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// asksAbout returns the first part about which the user asks, but which no engine reads:
// one in the last message of the user. What follows a result of a tool belongs to that, as
// the messages of tools have no place for images. The lists are those of all messages.
func asksAbout(messages []Message, parts [][]leftOut) (asked leftOut, ok bool) {
	ofTool := false
	for i, m := range messages {
		switch m.Role {
		case Tool:
			ofTool = true
		case User:
			ofTool = ofTool && len(parts[i]) > 0
			if ok = !ofTool && len(parts[i]) > 0; ok {
				asked = parts[i][0]
			}
		default:
			ofTool = false
		}
	}
	return asked, ok
}
