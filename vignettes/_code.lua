-- Code in half of the HTML that pandoc makes: no anchors of lines, which nothing links to, and no colours of operators,
-- numbers and names of arguments. Lines of comments in a row, such as output, share one element. pandoc before 2.17
-- makes its own.
local coloured = { co = true, st = true, fu = true, cf = true }

function CodeBlock(block)
  if not pandoc.write or #block.classes == 0 then return nil end
  local html = pandoc.write(pandoc.Pandoc({ block }), "html")
  local code = html:match("<code[^>]*>(.*)</code>")
  if not code then return nil end
  local lines = {}
  for line in (code .. "\n"):gmatch("(.-)\n") do
    line = line:gsub('^<span id="[^"]*"><a [^>]*></a>(.*)</span>$', "%1")
    line = line:gsub('<span class="(%a+)">(.-)</span>', function(class, text)
      if not coloured[class] then return text end
    end)
    lines[#lines + 1] = line
  end
  code = table.concat(lines, "\n"):gsub('</span>\n<span class="co">', "\n")
  return pandoc.RawBlock("html", "<pre class=\"r\"><code>" .. code .. "</code></pre>")
end
