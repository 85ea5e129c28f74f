"""A text that does something wherever it is not shown as text."""

HOSTILE = (
    "x <img src=x onerror=alert(1)> </script><script>alert(2)</script> <b onclick=alert(3)>b</b> "
    "![p](http://pixel.example/p.png) [q](javascript:alert(4)) <javascript:alert(5)> "
    "$\\href{javascript:alert(6)}{r}$ \\(\\href{http://link.example}{s}\\) "
    "$$\\require{html}\\style{color:red}{t}$$ "
    "&#92;href{javascript:alert(7)}{u} &lt;script&gt; | ` ``` * _ \u202eabc\u202c \x1b[31m\x07\n\n"
    "# heading\n\n[v]: javascript:alert(8)\n\n[v][v] <svg onload=alert(9)>\n\n"
    '```js" onmouseover=alert(10)\ncode\n```\n\n'
    '```mermaid\ngraph TD; A-->B; click A "javascript:alert(11)"\n```'
)
